"""A glance at transcripts shows what ties them, before they are read."""

from pathlib import Path

import pytest

from aix.importing import Source, Ties
from aix_importers.claude_code import ClaudeCodeImporter
from tests import ROOT

FIXTURES = ROOT / "fixtures" / "claude_code"
IMPORTER = ClaudeCodeImporter()


def transcripts(situation: str) -> list[Source]:
    return [Source(str(path)) for path in sorted((FIXTURES / situation).rglob("*.jsonl"))]


def tied(numbers: dict[str, set[int]]) -> set[frozenset[str]]:
    """Return the pairs of sources that have a number in common."""
    names = sorted(numbers)
    return {
        frozenset({one, other}) for one in names for other in names if one < other and numbers[one] & numbers[other]
    }


def seen(sources: list[Source]) -> dict[str, set[int]]:
    return {source.path: set(IMPORTER.likely_ties(source)) for source in sources}


def read(sources: list[Source]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {source.path: set() for source in sources}
    for piece in IMPORTER.extract(sources):
        if isinstance(piece, Ties):
            found[piece.source.path].update(piece.numbers)
    return found


@pytest.mark.parametrize("situation", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_no_files_look_tied_that_are_not(situation: str) -> None:
    sources = transcripts(situation)
    assert tied(seen(sources)) <= tied(read(sources))


@pytest.mark.parametrize(
    "situation",
    ["resumed_copy", "forked_copy", "nested_layout", "flat_layout", "subagent_resumed"],
)
def test_copies_continuations_and_agents_look_tied(situation: str) -> None:
    sources = transcripts(situation)
    assert tied(seen(sources)) == tied(read(sources)) != set()


def test_only_the_ends_of_a_large_file_are_looked_at(tmp_path: Path) -> None:
    def line(number: int) -> str:
        return f'{{"type":"user","uuid":"{number}","message":{{"content":"{"x" * 1000}"}}}}\n'

    path = tmp_path / "large.jsonl"
    path.write_text("".join(map(line, range(1000))))
    shown = set(IMPORTER.likely_ties(Source(str(path))))
    alone = [write_one(tmp_path, line(number)) for number in (0, 500, 999)]
    assert [bool(numbers & shown) for numbers in alone] == [True, False, True]


def write_one(folder: Path, line: str) -> set[int]:
    (folder / "one.jsonl").write_text(line)
    return set(IMPORTER.likely_ties(Source(str(folder / "one.jsonl"))))


def test_settings_are_tied_to_nothing(tmp_path: Path) -> None:
    assert IMPORTER.likely_ties(Source(str(tmp_path / "settings.json"))) == ()
