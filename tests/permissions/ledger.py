"""The ledger on which permission audits are tried: `fixtures/permissions`, imported."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aix.derived.derived_data import renew
from aix.personas.persona_book import read_personas
from aix.pipeline.run import Settings, import_histories
from aix.prices.table import PriceTable
from aix_importers.claude_code.settings import scope_of
from aix_importers.claude_code.turns import ORIGIN as CLAUDE_CODE
from tests.permissions.by_hand import FIXTURES, settings_by_hand
from tests.queries.cursor_databases import write_database
from tests.support.row_batches import deliver, rows_of
from tests.support.sample_conversation import Row

Answer = Callable[..., Any]
"""Runs a command of the audit, and returns the JSON that it wrote."""
LOGS = FIXTURES / "logs"
MACHINE = FIXTURES / "machine"
COMPOSED = FIXTURES / "composed"
CHATS = FIXTURES / "chats.json"
PERSONAS = FIXTURES / "personas.toml"
SECRETS = {
    "@@AWS_KEY@@": "AKIA" + "QX7TJ2MDRWVC5LHB",
    "@@GITHUB_TOKEN@@": "ghp_" + "q3Zr8Lw1Vt6Ny4Kd9Bs2Hx7Jm5Cp0Fg1Ta8e",
    "@@PRIVATE_KEY@@": "-----BEGIN RSA PRIVATE "
    + r"KEY-----\n"
    + r"MIIBmadeUpForTestsOnly0123456789\n" * 3
    + "-----END RSA PRIVATE KEY-----",
}
"""By the text that stands for it in a log: a secret, put together here so that no scanner finds it in a file."""


def build_permission_ledger(folder: Path) -> Path:
    """Join the rules of the machine and the rows of a chat, as if they had been imported, and import the logs."""
    rules = {"permission_rules": rules_of_the_machine()}
    deliver(folder, ("machine", rules), ("chats", json.loads(CHATS.read_text("utf-8"))))
    # Results name the files of logs, and are the same wherever what is before this folder lies.
    composed = compose_logs(folder.parent / "fixtures" / "permissions" / "composed")
    import_histories(folder, [LOGS, composed], Settings(jobs=0))
    return folder


def build_persona_ledger(folder: Path) -> Path:
    """Make the same ledger, and apply the personas that lie beside its logs."""
    return apply_personas(build_permission_ledger(folder))


def apply_personas(ledger: Path, file: Path | None = PERSONAS) -> Path:
    """Apply a file of personas to a ledger, as an import does that finds nothing new."""
    renew(ledger, PriceTable(), read_personas(file))
    return ledger


def settings_of(project: str) -> list[str]:
    """Return the settings files in the folder of a project; where it has none, those of the machine."""
    files = [
        path
        for pattern in (".claude/settings*.json", ".cursor/cli.json")
        for path in MACHINE.rglob(f"{project}/{pattern}")
    ]
    return [str(path) for path in sorted(files) or [MACHINE / "etc" / "claude-code" / "managed-settings.json"]]


def compose_logs(folder: Path) -> Path:
    """Write the logs that hold secrets into a folder."""
    for template in COMPOSED.rglob("*.jsonl"):
        text = template.read_text("utf-8")
        for name, secret in SECRETS.items():
            text = text.replace(name, secret)
        path = folder / template.relative_to(COMPOSED)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def rules_of_the_machine() -> list[Row]:
    """Return the rules of all settings files, each file in the place and from the day that the README tells.

    A rule holds in the folder of its file, and the sessions were held in `/home`: so the rows have the paths of there
    rather than those of the copy that they are read from.
    """
    with tempfile.TemporaryDirectory(prefix="aix-machine-") as scratch:
        copy = shutil.copytree(MACHINE, Path(scratch).resolve() / "machine")
        for script in copy.rglob("*.sql"):
            write_database(script)
            script.unlink()
        for file, written_at in settings_by_hand().items():
            os.utime(f"{copy}{file}", (written_at, written_at))
        ledger = Path(scratch) / "ledger"
        import_histories(ledger, [copy], Settings(jobs=0))
        return [_moved(row, copy) for row in rows_of(ledger, "permission_rules")]


def _moved(row: Row, copy: Path) -> Row:
    file = row["file"].removeprefix(str(copy))
    # In the copy no folder is anybody's home.
    scope = scope_of(file) if row["origin"] == CLAUDE_CODE else row["scope"]
    return {**row, "file": file, "scope": scope}


def write_settings(folder: Path, **rules: list[str]) -> str:
    path = folder / "settings.json"
    path.write_text(json.dumps({"permissions": rules}), "utf-8")
    return str(path)
