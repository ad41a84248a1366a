"""`aix similar`: names, texts and kinds, filters, tables of 80 columns, and texts that would act on a terminal."""

import json
from itertools import count
from pathlib import Path

import pytest

from aix.similarity.features import features_of
from aix.similarity.texts import Part
from tests.similarity.conftest import SECRET, talk
from tests.support.command_line import AIX, run_in_process, run_on_terminal
from tests.support.row_batches import deliver


def similar(ledger: Path, *options: str) -> list[dict[str, object]]:
    done = run_in_process("similar", *options, "--ledger", str(ledger), "--json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def test_words_are_a_text_and_names_are_things(made: Path) -> None:
    assert similar(made, "fix", "refill", "bucket")[0]["turn_id"] == "queue-1"
    assert {row["session"] for row in similar(made, "tides")} == {"ships", "queue"}
    assert {row["turn_id"] for row in similar(made, "tides", "--text")} == {"tides-1"}
    assert similar(made, "tides-0", "--limit", "1")[0]["turn_id"] == "ships-0"
    assert similar(made, "program:harbour-task")[0].keys() >= {"program_id", "program_type"}
    assert similar(made, "tides", "--among", "turns", "--limit", "1")[0]["session"] != "tides"
    assert similar(made, "t", "--limit", "1")[0]["session"] != "tides"  # as `aix show t` reads it


def test_a_row_has_all_that_is_known(made: Path) -> None:
    [row] = similar(made, "three ships and a tug", "--limit", "1")
    similarity = row.pop("similarity")
    assert 0.5 < float(str(similarity)) < 1
    assert row == {
        "turn_id": "ships-0",
        "session": "ships",
        "title": "Which ships are moored in the harbour tonight?",
        "prompt": "Which ships are moored in the harbour tonight?",
        "origin": None,
        "project": None,
        "model": "m",
        "started_at": 1000,
    }


@pytest.mark.parametrize(
    ("options", "turns"),
    [
        (("--model", "m"), {"tides-0", "ships-0"}),
        (("--model", "other"), set()),
        (("--until", "1970-01-01"), {"tides-0", "ships-0"}),
        (("--since", "1970-01-02"), set()),
        (("--tag", "none"), set()),
    ],
)
def test_filters_narrow_turns_down(made: Path, options: tuple[str, ...], turns: set[str]) -> None:
    assert {row["turn_id"] for row in similar(made, "harbour ships", *options)} == turns
    sessions = {row["session"] for row in similar(made, "harbour ships", "--among", "sessions", *options)}
    assert sessions == {turn.partition("-")[0] for turn in turns}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("tide", "--among", "programs", "--tag", "x"), "The filters are for turns and sessions"),
        (("program:nothing",), "there is no program named 'nothing'"),
        (("tide", "--project", "nowhere"), "project"),
        (("tide", "--origin", "nowhere"), "there is no origin named 'nowhere'"),
        (("",), "'' cannot be compared: it has no letter and no digit"),
        (("!!!", "--text"), "'!!!' cannot be compared: it has no letter and no digit"),
        (("tide", "--embedding", "nope"), "there are none yet; `aix embed --model nope --command COMMAND` makes one"),
        (("session:nothing",), "there is no session named 'nothing'"),
    ],
)
def test_a_wrong_command_line_is_explained(made: Path, options: tuple[str, ...], message: str) -> None:
    done = run_in_process("similar", *options, "--ledger", str(made))
    assert done.returncode == 2
    assert message in done.stderr


def test_sessions_are_named_with_their_word_too(made: Path) -> None:
    assert similar(made, "session:tides") == similar(made, "tides")
    assert similar(made, "session: tides")[0].keys() >= {"turn_id"}


def test_a_ledger_without_programs_says_so(tmp_path: Path) -> None:
    deliver(tmp_path, talk("tides", [("tide", "x")]))
    for among, none in (("programs", "program"), ("information", "program of the type information")):
        done = run_in_process("similar", "tide", "--among", among, "--ledger", str(tmp_path))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", f"aix: the ledger holds no {none}\n")


def test_nothing_similar_is_said(made: Path) -> None:
    done = run_in_process("similar", "zzz", "--ledger", str(made))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "aix: no turn has any of these words\n"
    done = run_in_process("similar", "harbour", "--model", "other", "--ledger", str(made))
    assert done.stderr == "aix: nothing similar among the turns of the ledger\n"


@pytest.mark.parametrize("among", ["turns", "sessions", "programs"])
def test_a_word_that_only_shares_the_place_of_another_is_not_found(made: Path, among: str) -> None:
    taken = features_of([(Part.PROMPT, "moored tides")]).keys()
    words = (f"z{number}" for number in count())
    other = next(word for word in words if features_of([(Part.PROMPT, word)]).keys() & taken)
    done = run_in_process("similar", other, "--among", among, "--ledger", str(made))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"aix: no {among.removesuffix('s')} has any of these words\n"
    found = {tuple(row.values())[1] for row in similar(made, "harbour", "--among", among)}
    assert found
    assert {tuple(row.values())[1] for row in similar(made, "harbour", other, "--among", among)} == found


@pytest.mark.long
def test_a_table_fits_80_columns_and_names_the_next_step(made: Path) -> None:
    shown, code = run_on_terminal(AIX, "similar", "harbour", "--ledger", str(made), NO_COLOR="1")
    assert code == 0
    lines = shown.replace("\r", "").splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert any("ships-" in line and "Which ships are moored" in line for line in lines)
    best = similar(made, "harbour", "--limit", "1")[0]["turn_id"]
    assert f"next: `aix show {best}`" in shown


def test_hostile_texts_do_not_act_and_redaction_hides_secrets(tmp_path: Path) -> None:
    prompt = f"harbour \x1b[2J\x07 <script> $(rm -rf .) {SECRET}"
    deliver(tmp_path, talk("bad", [(prompt, "x")]), talk("good", [("harbour", "y")]))
    plain = run_in_process("similar", "harbour", "$(id)", "\x1b]0;x", "--ledger", str(tmp_path))
    assert "\x1b" not in plain.stdout
    assert "\x07" not in plain.stdout
    assert SECRET in plain.stdout
    for form in ("table", "json", "csv"):
        hidden = run_in_process("similar", "harbour", "--redact", "--format", form, "--ledger", str(tmp_path))
        assert SECRET not in hidden.stdout
        assert "hidden: 1 secret" in hidden.stderr or "secret" in hidden.stderr
