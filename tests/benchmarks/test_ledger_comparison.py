"""The comparison of ledgers finds each row that only one of two has."""

from pathlib import Path

from benchmarks.ledger_comparison import differences


def _written(folder: Path, **files: str) -> Path:
    for name, lines in files.items():
        path = folder / f"{name.replace('__', '/')}.rows"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines)
    return folder


def test_rows_of_one_side_are_shown_with_their_table(tmp_path: Path) -> None:
    earlier = _written(tmp_path / "earlier", turns="a\nb\nb\n", cost__daily="x\n", gone="")
    later = _written(tmp_path / "later", turns="a\nb\nc\n", cost__daily="x\n")

    assert dict(differences(earlier, later)) == {"turns": ["- b", "+ c"], "gone": ["- "]}


def test_files_of_the_ledger_itself_are_not_compared(tmp_path: Path) -> None:
    earlier = _written(tmp_path / "earlier", ledger__x="1\n", turns="a\n")

    assert not list(differences(earlier, _written(tmp_path / "later", turns="a\n")))
