"""Credentials in the programs that records state as rows of the ledger: they are never stored."""

from collections.abc import Callable, Mapping

from aix_importers.common.json_text import DECODER, compact_json
from aix_importers.common.secrets import is_secret_text, without_secrets

_BESIDE = "aix:node"
"""The setting with the fields of a program that stand beside its settings."""


def without_credentials(stated: object, places: list[str]) -> object:
    """Return the rows that a record states without what looks like credentials, whose places are noted.

    >>> places = []
    >>> without_credentials({"programs": [{"id": "p", "config_json": '{"apiKey":"k","model":"m"}'}]}, places)
    {'programs': [{'id': 'p', 'config_json': '{"model":"m"}'}]}
    >>> places
    ['apiKey']
    """
    if not isinstance(stated, dict):
        return stated
    screened = dict(stated)
    for table, (column, screen) in _SETTINGS.items():
        if isinstance(rows := stated.get(table), list):
            screened[table] = [_screened(row, column, screen, places) for row in rows]
    return screened


def _program(settings: Mapping[str, object], places: list[str]) -> dict[str, object]:
    """Screen the settings of a program; the fields beside them are judged one by one."""
    kept = without_secrets({name: value for name, value in settings.items() if name != _BESIDE}, places.append)
    beside = settings.get(_BESIDE)
    return {**kept, _BESIDE: _fields(beside, places)} if isinstance(beside, dict) else kept


def _fields(fields: Mapping[str, object], places: list[str]) -> dict[str, object]:
    """Screen fields one by one: a `name` beside `data` is no label of it."""
    kept: dict[str, object] = {}
    for name, value in fields.items():
        kept |= without_secrets({name: value}, places.append)
    return kept


_Screen = Callable[[Mapping[str, object], list[str]], dict[str, object]]
_SETTINGS: dict[str, tuple[str, _Screen]] = {
    "programs": ("config_json", _program),
    "program_events": ("payload_json", _fields),
}


def _screened(row: object, column: str, screen: _Screen, places: list[str]) -> object:
    text = row.get(column) if isinstance(row, dict) else None
    if not isinstance(row, dict) or not isinstance(text, str):
        return row
    try:
        settings = DECODER.decode(text)
    except (ValueError, RecursionError):
        settings = None
    found: list[str] = []
    kept = screen(settings, found) if isinstance(settings, dict) else None
    if kept is None and is_secret_text(text):
        found.append(column)
    places += found
    return row if not found else {**row, column: kept and compact_json(kept)}
