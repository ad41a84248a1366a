"""Vectors of turns: exact cosines, the same whatever the way into the ledger, gone with what they stand for."""

import random
import shutil
from array import array
from collections import Counter
from math import log, sqrt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.cli.forget import vacuum as vacuum_command
from aix.errors import LedgerDamagedError
from aix.merge.forget import forget
from aix.merge.selection import Selection
from aix.reading.ledger import open_ledger
from aix.similarity.features import PLACES, features_of
from aix.similarity.similarity import Among, Like, SimilarRequest, WordComparison, find_similar
from aix.similarity.space import VectorSpace
from aix.similarity.texts import PROGRAMS as OF_PROGRAMS
from aix.similarity.texts import TURNS, GroupTexts, Part
from aix.similarity.vectors import VectorFile, Vectors
from aix.store.cache_files import make_missing
from aix.store.manifest import groups_of, read_latest
from tests.similarity.conftest import ALL, SECRET, talk
from tests.support.command_line import run_aix, run_in_process
from tests.support.row_batches import deliver

SAMPLE = "The harbour's token_bucket REFILLS at 08:15, café!"


def nearest(ledger: Path, like: Like, among: Among = Among.TURNS, **narrowed: object) -> list[tuple[str, float]]:
    with open_ledger(ledger) as opened:
        request = SimilarRequest(like=like, among=among, narrowed=narrowed)
        return [(each.key, each.similarity) for each in find_similar(opened, request, WordComparison(opened), 100)]


def files_of_vectors(ledger: Path) -> list[Path]:
    return sorted((ledger / "cache").rglob("vectors-*"))


def random_features(source: random.Random) -> dict[int, int]:
    return {source.randrange(200): source.randrange(1, 90) for _ in range(source.randrange(1, 40))}


def vectors_of(features: dict[str, dict[int, int]]) -> Vectors:
    ends = array("i", [0])
    for each in features.values():
        ends.append(ends[-1] + len(each))
    offsets = pa.array(list(ends), pa.int32())
    places = pa.array([place for each in features.values() for place in each], pa.uint16())
    weights = pa.array([weight for each in features.values() for weight in each.values()], pa.uint8())
    return Vectors(
        pa.array(list(features), pa.string()),
        pa.ListArray.from_arrays(offsets, places),
        pa.ListArray.from_arrays(offsets, weights),
    )


def cosine(one: dict[int, int], other: dict[int, int], known: list[dict[int, int]]) -> float:
    """Compute a cosine as the definition says, a place at a time."""
    having = Counter(place for each in known for place in each)

    def weighted(features: dict[int, int]) -> dict[int, int]:
        return {
            place: weight * max(1, round(256 * log((len(known) + 1) / (having[place] + 0.5))))
            for place, weight in features.items()
        }

    first, second = weighted(one), weighted(other)
    dot = sum(first[place] * second[place] for place in first.keys() & second.keys())
    lengths = (sqrt(sum(number**2 for number in each.values())) for each in (first, second))
    return dot / (next(lengths) * next(lengths))


@pytest.mark.parametrize("seed", range(5))
def test_cosines_are_those_of_the_definition(seed: int) -> None:
    source = random.Random(seed)
    features = {f"t-{number:02}": random_features(source) for number in range(40)}
    query = random_features(source)
    known = list(features.values())
    expected = {key: cosine(query, each, known) for key, each in features.items()}
    halves = [dict(list(features.items())[:13]), dict(list(features.items())[13:])]
    space = VectorSpace([vectors_of(half) for half in halves])
    found = dict(space.nearest(query))
    assert found == {key: pytest.approx(value, abs=1e-6) for key, value in expected.items() if value}
    assert [*found.values()] == sorted(found.values(), reverse=True)


@pytest.mark.parametrize("seed", range(3))
def test_the_vector_of_a_session_is_the_sum_of_those_of_its_turns(seed: int) -> None:
    source = random.Random(seed)
    features = {f"t-{number:02}": random_features(source) for number in range(30)}
    sessions = {key: f"s-{int(key[2:]) % 7}" for key in features if key != "t-29"}
    query, known = random_features(source), list(features.values())
    sums: dict[str, Counter[int]] = {}
    for key, label in sessions.items():
        sums.setdefault(label, Counter()).update(features[key])
    space = VectorSpace([vectors_of(features)])
    expected = {label: cosine(query, dict(each), known) for label, each in sums.items()}
    found = dict(space.nearest_sums(query, sessions))
    assert found == {label: pytest.approx(value, abs=1e-6) for label, value in expected.items() if value}
    assert space.sum_of([key for key, label in sessions.items() if label == "s-3"]) == sums["s-3"]


def test_a_sum_of_very_many_turns_does_not_overflow() -> None:
    features = {"t": dict.fromkeys(range(300), 90)}
    query = dict.fromkeys(range(300), 2**40)
    assert list(VectorSpace([vectors_of(features)]).nearest(query)) == [("t", 1.0)]


def test_without_vectors_there_is_nothing_similar() -> None:
    assert list(VectorSpace([]).nearest({1: 1})) == []
    assert list(VectorSpace([vectors_of({"t": {1: 1}})]).nearest({})) == []


@given(st.text())
def test_any_text_has_features_within_bounds(text: str) -> None:
    features = features_of([(Part.PROMPT, text)])
    assert all(0 <= place < PLACES and 0 < weight < 256 for place, weight in features.items())
    assert list(features) == sorted(features)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SAMPLE, "the HARBOUR s Token-Bucket refills at 08 15 cafe"),
        ("deploy", "deploy " + "k" * 41),  # a key, a hash
    ],
)
def test_case_accents_signs_and_hashes_make_no_difference(one: str, other: str) -> None:
    assert features_of([(Part.PROMPT, one)]) == features_of([(Part.PROMPT, other)])


def test_the_end_of_a_word_makes_some_difference() -> None:
    forms = [features_of([(Part.PROMPT, word)]) for word in ("deployment", "deploying", "sailing")]
    assert forms[0].keys() & forms[1].keys()
    assert not forms[0].keys() & forms[2].keys()


def test_words_after_the_first_160_do_not_count() -> None:
    words = [f"w{number}" for number in range(161)]
    assert features_of([(Part.PROMPT, " ".join(words))]) == features_of([(Part.PROMPT, " ".join(words[:-1]))])


def test_the_same_text_is_entirely_similar(tmp_path: Path) -> None:
    deliver(tmp_path, talk("one", [(SAMPLE, "")], calls=False), talk("two", [("another thing", "")]))
    assert nearest(tmp_path, Like(SAMPLE))[0] == ("one-0", 1.0)
    assert nearest(tmp_path, Like(table=TURNS, key="one-0")) == []


def test_what_tools_got_and_gave_does_not_count(made: Path) -> None:
    assert nearest(made, Like(f"bulk result {SECRET}")) == []
    assert nearest(made, Like("Edit"))[0][0] in {"tides-0", "queue-0", "ships-0"}


def test_neither_the_turn_nor_the_session_itself_is_an_answer(made: Path) -> None:
    turns = nearest(made, Like(table=TURNS, key="tides-0"))
    assert turns[0][0] in {"tides-1", "ships-0"}
    assert "tides-0" not in dict(turns)
    assert dict(nearest(made, Like(table="sessions", key="tides"), Among.SESSIONS)).keys() == {"ships", "queue"}
    assert not {"tides-0", "tides-1"} & dict(nearest(made, Like(table="sessions", key="tides"))).keys()
    assert "tides" not in dict(nearest(made, Like(table=TURNS, key="tides-0"), Among.SESSIONS))


def test_programs_and_information_are_compared_too(made: Path) -> None:
    assert nearest(made, Like("neap tides"), Among.PROGRAMS)[0][0] == "tide-notes"
    assert [key for key, _ in nearest(made, Like("harbour tide bucket"), Among.INFORMATION)] == ["tide-notes"]
    assert nearest(made, Like(table=OF_PROGRAMS, key="harbour-task"))[0][0] == "ships-0"
    assert nearest(made, Like(table=TURNS, key="queue-0"), Among.PROGRAMS)[0][0] == "queue-agent"
    assert "queue-agent" not in dict(nearest(made, Like(table=OF_PROGRAMS, key="queue-agent"), Among.PROGRAMS))


@pytest.mark.long
@pytest.mark.usefixtures("several_groups")
def test_the_answers_do_not_depend_on_the_way_into_the_ledger(made: Path, tmp_path: Path) -> None:
    for statement in reversed(ALL):
        deliver(tmp_path, statement)
    grown = talk("queue", [("The token bucket refills too slowly, why?", "")])
    deliver(tmp_path, {"messages": grown["messages"][:1]})
    assert len(groups_of(read_latest(tmp_path).tables)) > 1
    for like in (Like("token harbour tide"), Like(table=TURNS, key="queue-1"), Like(table="sessions", key="ships")):
        for among in (Among.TURNS, Among.SESSIONS, Among.PROGRAMS):
            assert nearest(tmp_path, like, among) == nearest(made, like, among)


@pytest.mark.usefixtures("several_groups")
def test_vectors_of_what_stays_are_not_made_again(tmp_path: Path) -> None:
    deliver(tmp_path, ALL[0])
    nearest(tmp_path, Like("tide"))
    before = {path: path.stat().st_mtime_ns for path in files_of_vectors(tmp_path)}
    deliver(tmp_path, ALL[1])
    nearest(tmp_path, Like("tide"))
    after = {path: path.stat().st_mtime_ns for path in files_of_vectors(tmp_path)}
    assert len(before) == 1
    assert len(after) == 2
    assert before.items() <= after.items()
    assert {path.stat().st_mode & 0o777 for path in after} == {0o600}


def test_forgetting_a_session_leaves_no_vector_of_it(tmp_path: Path) -> None:
    deliver(tmp_path, *ALL)
    nearest(tmp_path, Like("tide"))
    [old] = files_of_vectors(tmp_path)
    forget(tmp_path, Selection(labels=["tides"]))
    assert not old.exists()
    assert not dict(nearest(tmp_path, Like("spring tide table"))).keys() & {"tides-0", "tides-1"}
    assert set(dict(nearest(tmp_path, Like("bucket")))) == {"queue-0", "queue-1"}


def test_a_session_that_was_read_again_counts_once(tmp_path: Path) -> None:
    deliver(tmp_path, *ALL)
    deliver(
        tmp_path, talk("ships", [*[("Which ships are moored in the harbour tonight?", "Three ships, and a tug.")] * 2])
    )
    assert sorted(dict(nearest(tmp_path, Like("ships moored tonight")))) == ["ships-0", "ships-1"]


def test_vectors_of_another_form_are_not_used_and_vacuum_removes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver(tmp_path, *ALL)
    expected = nearest(tmp_path, Like("tide"))
    [old] = files_of_vectors(tmp_path)
    monkeypatch.setattr(VectorFile, "form", 99)
    assert nearest(tmp_path, Like("tide")) == expected
    assert len(files_of_vectors(tmp_path)) == 2
    assert not VectorFile.is_of(read_latest(tmp_path), old)
    vacuum_command.main(["--ledger", str(tmp_path), "--grace", "0"], standalone_mode=False)
    [new] = files_of_vectors(tmp_path)
    assert new != old


@pytest.mark.parametrize("damage", ["cut", "other", "uneven"])
def test_damaged_vectors_are_made_again(tmp_path: Path, made: Path, damage: str) -> None:
    shutil.copytree(made, tmp_path / "ledger")
    ledger = tmp_path / "ledger"
    expected = nearest(ledger, Like("tide"))
    [path] = files_of_vectors(ledger)
    whole = path.read_bytes()
    if damage == "uneven":
        rows = pq.read_table(path)
        pq.write_table(
            rows.set_column(4, rows.schema.field(4), pa.array([[1]] * rows.num_rows, pa.list_(pa.uint8()))), path
        )
    else:
        path.write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"PAR1 nothing PAR1")
    assert nearest(ledger, Like("tide")) == expected
    assert path.read_bytes() == whole


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_cache_that_is_no_folder_is_damage(made: Path, tmp_path: Path, kind: str) -> None:
    shutil.copytree(made, tmp_path / "ledger")
    shutil.rmtree(tmp_path / "ledger" / "cache", ignore_errors=True)
    if kind == "file":
        (tmp_path / "ledger" / "cache").write_text("in the way")
    else:
        (tmp_path / "ledger" / "cache").symlink_to(tmp_path)
    with pytest.raises(LedgerDamagedError):
        nearest(tmp_path / "ledger", Like("tide"))
    assert [path.name for path in tmp_path.iterdir()] == ["ledger"]


@pytest.mark.long
def test_two_processes_may_make_vectors_at_once(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    deliver(tmp_path, *ALL)
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(run_aix, "similar", "tide", "--ledger", str(tmp_path), "--json") for _ in range(2)]
    first, second = (run.result() for run in runs)
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout != "[]\n"


def test_an_import_with_index_makes_vectors(tmp_path: Path) -> None:
    log = tmp_path / "programs.jsonl"
    log.write_text('{"id": "notes", "type": "program", "programType": "information", "config": {"content": "tides"}}\n')
    ledger = tmp_path / "ledger"
    assert run_in_process("import", str(log), "--index", "--ledger", str(ledger)).returncode == 0
    assert len(files_of_vectors(ledger)) == 1
    make_missing(VectorFile.all_of(ledger, read_latest(ledger)))
    assert len(files_of_vectors(ledger)) == 1


def test_texts_of_some_turns_are_read_without_the_others(made: Path) -> None:
    manifest = read_latest(made)
    found = []
    for files in groups_of(manifest.tables).values():
        texts = GroupTexts(made, files, {(TURNS, "ships-0"), (OF_PROGRAMS, "queue-agent")})
        for _ in texts.read():
            pass
        found += [(each.table, each.key, [part.name for part, _ in each.pieces()]) for each in texts.found]
    assert sorted(found) == [
        ("programs", "queue-agent", ["PROMPT"]),
        ("turns", "ships-0", ["PROMPT", "ANSWER", "TOOL"]),
    ]
