"""Settings: the environment, `config.toml` and defaults, in one place.

A setting is taken from the environment variable `AIX_<NAME>`, else from the file, else from its default. The file is
the one named on the command line or in `AIX_CONFIG`, else `config.toml` in the user's configuration folder.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import msgspec
import platformdirs

from aix.errors import ConfigError, nearest_names

AUTO_IMPORT = ("terminal", "always", "never")


class Setting(msgspec.Struct, frozen=True):
    """A value in force, where it came from, and what it is for."""

    name: str
    value: str
    origin: str
    description: str


class Config(msgspec.Struct, frozen=True):
    """All settings in force."""

    file: Path
    settings: Mapping[str, Setting]

    @property
    def ledger(self) -> Path:
        """The folder of the ledger that commands use unless they are told another."""
        return Path(self.settings["ledger"].value)

    @property
    def timezone(self) -> ZoneInfo:
        """The time zone in which days, weeks and months begin."""
        return ZoneInfo(self.settings["timezone"].value)

    @property
    def prices(self) -> Path | None:
        """The user's own file of prices, if there is one."""
        value = self.settings["prices"].value
        return Path(value) if value else None

    @property
    def personas(self) -> Path | None:
        """The user's file of personas, if there is one."""
        value = self.settings["personas"].value
        return Path(value) if value else None

    @property
    def redact_names(self) -> Path | None:
        """The user's own list of names that a redaction hides, if there is one."""
        value = self.settings["redact_names"].value
        return Path(value) if value else None

    @property
    def embedding_command(self) -> str:
        """The user's own command that makes vectors of texts, as a shell would read it; empty without one."""
        return self.settings["embedding_command"].value

    @property
    def embedding_model(self) -> str:
        """The name under which the vectors of that command are stored; empty without one."""
        return self.settings["embedding_model"].value

    @property
    def auto_import(self) -> str:
        """When a command that reads the ledger first imports what has changed: one of `AUTO_IMPORT`."""
        return self.settings["auto_import"].value


def load_config(file: Path | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """Read the settings in force; a file that is named must exist, the user's own need not."""
    named = file or (Path(environ["AIX_CONFIG"]) if environ.get("AIX_CONFIG") else None)
    path = named or platformdirs.user_config_path("aix") / "config.toml"
    written = _read(path) if named or path.exists() else {}
    settings = {name: _setting(name, path, written, environ) for name in _DEFINITIONS}
    return Config(path, settings)


class _Definition(msgspec.Struct, frozen=True):
    description: str
    default: Callable[[], str]
    normalise: Callable[[str, Path], str]
    """Takes the value and the folder that relative paths start from; raises ValueError with the remedy."""


def _read(path: Path) -> dict[str, object]:
    import tomllib  # takes longer than all else here, and most have no file

    try:
        written = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(str(path), error.strerror or str(error), "check --config and AIX_CONFIG") from error
    except ValueError as error:
        raise ConfigError(str(path), f"this is not TOML: {error}", "see docs/cli.md for an example") from error
    for name in written:
        if name not in _DEFINITIONS:
            nearest = nearest_names(name, _DEFINITIONS, 1) or list(_DEFINITIONS)
            raise ConfigError(str(path), f"there is no setting {name!r}", f"use {' or '.join(nearest)}")
    return written


def _setting(name: str, path: Path, written: Mapping[str, object], environ: Mapping[str, str]) -> Setting:
    definition = _DEFINITIONS[name]
    variable = f"AIX_{name.upper()}"
    value: object
    if environ.get(variable):
        value, origin, folder = environ[variable], variable, Path.cwd()
    elif name in written:
        value, origin, folder = written[name], str(path), path.absolute().parent
    else:
        value, origin, folder = definition.default(), "default", Path.cwd()
    if not isinstance(value, str):
        raise ConfigError(origin, f"{name} must be text, not {value!r}", f'write {name} = "…"')
    try:
        return Setting(name, definition.normalise(value, folder), origin, definition.description)
    except ValueError as error:
        raise ConfigError(origin, f"{name} cannot be {value!r}", str(error)) from error


def _absolute_path(value: str, folder: Path) -> str:
    if not value or "\0" in value:
        raise ValueError("name a folder")
    try:
        return str(folder / Path(value).expanduser())
    except RuntimeError as error:
        raise ValueError("write the path in full") from error


def _time_zone(value: str, folder: Path) -> str:  # noqa: ARG001 - a zone lies in no folder
    try:
        return ZoneInfo(value).key
    except (ValueError, OSError, KeyError):
        nearest = nearest_names(value, sorted(available_timezones()))
        raise ValueError(f"use the name of a zone, such as {' or '.join(nearest or ['Europe/Berlin'])}") from None


def _auto_import(value: str, folder: Path) -> str:  # noqa: ARG001 - a word lies in no folder
    if value not in AUTO_IMPORT:
        raise ValueError(f"use {', '.join(AUTO_IMPORT[:-1])} or {AUTO_IMPORT[-1]}")
    return value


def _command_line(value: str, folder: Path) -> str:  # noqa: ARG001 - it is run where AIX is
    import shlex

    try:
        shlex.split(value)
    except ValueError:
        raise ValueError("close its quotes") from None
    if "\0" in value:
        raise ValueError("write it without a null character")
    return value


def _model_name(value: str, folder: Path) -> str:  # noqa: ARG001 - a name lies in no folder
    if not value.isprintable() or value != value.strip():
        raise ValueError("use a name on one line")
    return value


_DEFINITIONS = {
    "ledger": _Definition(
        "Folder of the ledger; a relative path in the file starts from the file's folder.",
        lambda: str(platformdirs.user_data_path("aix") / "ledger"),
        _absolute_path,
    ),
    "timezone": _Definition(
        "Zone in which days begin; so do weeks and months. UTC gives the same figures on every machine.",
        lambda: "UTC",
        _time_zone,
    ),
    "prices": _Definition(
        "Your own file of prices; it is taken before those that come with AIX.",
        lambda: "",
        lambda value, folder: _absolute_path(value, folder) if value else "",
    ),
    "personas": _Definition(
        "Your file of personas: who an agent is, what it may do, and in which sessions.",
        lambda: "",
        lambda value, folder: _absolute_path(value, folder) if value else "",
    ),
    "redact_names": _Definition(
        "Your own list of names that `--redact` hides, one to a line.",
        lambda: "",
        lambda value, folder: _absolute_path(value, folder) if value else "",
    ),
    "embedding_command": _Definition(
        "Your own command that makes vectors of texts, for `aix embed`; it is run without a shell.",
        lambda: "",
        _command_line,
    ),
    "embedding_model": _Definition(
        "The name under which the vectors of that command are stored.",
        lambda: "",
        _model_name,
    ),
    "auto_import": _Definition(
        "When to import before reading: terminal (only onto a terminal), always or never.",
        lambda: "terminal",
        _auto_import,
    ),
}
