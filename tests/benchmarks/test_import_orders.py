"""The program that imports logs in many orders: what it takes, and what it notices."""

import shutil
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.import_orders import Bench, differences, read, run, some_files, together, with_companions
from tests import ROOT

pytestmark = pytest.mark.long

LOGS = ROOT / "fixtures" / "session_log" / "two_turns" / "input"


def paths(*names: str) -> list[Path]:
    return [Path(name) for name in names]


def test_a_part_of_the_files_is_made_of_whole_folders() -> None:
    nested = paths("p/one.jsonl", "p/one/agents/a.jsonl", "p/two.jsonl")
    files = [*nested, *paths("deep/q/x.jsonl", "deep/r/y.jsonl", "lone.jsonl")]
    for seed in range(10):
        chosen = some_files(files, 1, seed)
        assert chosen == sorted(nested) or (len(chosen) == 1 and chosen[0] not in nested)
    assert some_files(files, 99, 0) == sorted(files)


def test_a_log_goes_with_the_files_that_are_named_like_it() -> None:
    units = with_companions(paths("a.jsonl", "a.meta.json", "b.jsonl", "sub/a.jsonl"))
    assert units == [paths("a.jsonl", "a.meta.json"), paths("b.jsonl"), paths("sub/a.jsonl")]


def test_all_orders_of_a_sound_importer_give_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = Namespace(jobs=[], seeds=1, cuts=[50], files=None)
    assert run(Bench(tmp_path, LOGS), arguments) == 0
    assert capsys.readouterr().out.count("the same") == 2


def test_a_row_that_is_missing_or_has_another_value_is_shown(tmp_path: Path) -> None:
    bench = Bench(tmp_path, LOGS)
    bench.place(bench.files())
    whole = read(together(bench, 0))
    assert list(differences(whole, whole)) == []
    other = {name: {key: dict(row) for key, row in rows.items()} for name, rows in whole.items()}
    [first, second] = sorted(other["turns"])
    other["turns"][first]["status"] = "failed"
    del other["turns"][second]
    found = list(differences(whole, other))
    assert found[0] == "turns: 2 of 2 rows differ"
    assert found[1] == f"    {first[0]}: status 'completed' became 'failed'"
    assert found[2].startswith(f"    {second[0]}: missing: {{'id': ")


def test_logs_are_cut_and_made_whole_at_the_same_place(tmp_path: Path) -> None:
    originals = shutil.copytree(LOGS, tmp_path / "originals")
    bench = Bench(tmp_path, originals)
    [log] = [file for file in bench.files() if file.suffix == ".jsonl"][:1]
    bench.place([log], 50)
    whole = (originals / log).read_bytes()
    assert (bench.logs / log).read_bytes() == whole[: len(whole) // 2]
    bench.place([log])
    assert (bench.logs / log).read_bytes() == whole
