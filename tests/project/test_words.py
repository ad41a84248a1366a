"""Sentences that users did not understand are gone, and those that replaced them are there."""

import re
from pathlib import Path

import pytest

from aix.cli.root import COMMANDS

ROOT = Path(__file__).parents[2]
HISTORY = ROOT / "docs" / "decisions.md"
"""It quotes what was decided then."""
GONE = (
    r"\btaken? as (it|they) stood",
    r"pieces? of input",
    r"is a lower bound: not all logs say",
    r"is what sources themselves report",
    r"keeps its promises",
    r"Audit what was allowed, what was done",
    r"questions that AIX has the SQL for",
    r"on version \S+ of the ledger, last imported into at",
    r"calls of the class",
    r"of high and \S+ of medium risk were not denied",
    r"no log tells",
    r"This rests on inference",
    r"What looks like a secret stands",
    r"refused for their risk",
    r"holds no versions folder",
)
HELP = {
    "check": "Check the ledger for inconsistencies.",
    "audit": "Compare permissions with what agents actually did.",
    "query": "List or run ready-made queries.",
    "problems": "List lines that could not be fully read.",
}
PRINTED = (
    "could not be fully read; see `aix problems`",
    "No ledger yet. ",
    "because some logs omit final output counts",
    "The logs themselves report ",
    "(not included above)",
    "permission mode unknown",
    "Inferred, not logged.",
    "will still ask",
    "Can't read ",
    "interrupted a task",
    "main agent",
    "exact output %",
)


def texts() -> dict[str, str]:
    """Return all files that users read or that print what they read, by path."""
    files = [
        path
        for folder in ("aix", "importers", "queries", "docs")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".sql", ".md", ".toml", ".ipynb"} and path != HISTORY
    ]
    return {path.relative_to(ROOT).as_posix(): " ".join(path.read_text("utf-8").split()) for path in files}


@pytest.mark.parametrize("pattern", GONE)
def test_what_users_did_not_understand_is_gone(pattern: str) -> None:
    assert [path for path, text in texts().items() if re.search(pattern, text)] == []


@pytest.mark.parametrize("sentence", PRINTED)
def test_what_replaced_it_is_printed(sentence: str) -> None:
    assert any(sentence in text for path, text in texts().items() if path.endswith((".py", ".sql")))


@pytest.mark.parametrize(("command", "sentence"), HELP.items())
def test_the_help_of_a_command_is_in_plain_words(command: str, sentence: str) -> None:
    assert COMMANDS[command] == sentence
