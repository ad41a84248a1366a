"""`aix embed`: vectors of a user's command are stored once, replaced when asked, and gone with what they stand for."""

import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb
import pytest

from aix.merge.embeddings import add_embeddings
from aix.merge.forget import forget
from aix.merge.selection import Selection, select_match
from aix.merge.tagging import Entity
from aix.reading.ledger import open_ledger
from aix.similarity.embedding import EmbeddingComparison, EmbeddingRequest, plan_embedding, texts_to_embed
from aix.similarity.embedding_command import EmbeddingCommand
from aix.similarity.similarity import Among, Like
from aix.store.manifest import read_latest
from aix.store.views import create_views
from tests.similarity.conftest import ALL, SECRET, embed_words, talk
from tests.support.command_line import run_in_process
from tests.support.conversations import message, turn
from tests.support.row_batches import deliver, rows_of

PROGRAM = """
import json, sys
from aix.store.manifest import read_latest
from aix.store.views import create_views
from tests.similarity.conftest import embed_words
for number, line in enumerate(sys.stdin, 1):
    text = json.loads(line)
    with open(sys.argv[1], "a") as seen:
        seen.write(text["id"] + "\\n")
    if len(sys.argv) > 2 and number > int(sys.argv[2]):
        sys.exit("enough")
    print(json.dumps({"id": text["id"], "vector": embed_words(text["text"])}), flush=True)
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    deliver(tmp_path / "ledger", *ALL)
    (tmp_path / "embed.py").write_text(PROGRAM)
    return tmp_path / "ledger"


def embed(ledger: Path, *options: str, most: str = "") -> tuple[int, str, list[str]]:
    """Run `aix embed`, and return its exit code, messages and the ids that the command got."""
    seen = ledger.parent / "seen"
    seen.write_text("")
    program = shlex.join([sys.executable, str(ledger.parent / "embed.py"), str(seen), *([most] if most else [])])
    done = run_in_process("embed", "--model", "m", "--command", program, "--ledger", str(ledger), *options)
    return done.returncode, done.stderr, seen.read_text().split()


def stored(ledger: Path) -> list[tuple[str, str]]:
    return [(str(row["entity_type"]), str(row["entity_id"])) for row in rows_of(ledger, "embeddings")]


PROGRAM_IDS = ["harbour-task", "queue-agent", "tide-notes"]
TURN_IDS = ["queue-0", "queue-1", "ships-0", "tides-0", "tides-1"]


@pytest.mark.long
def test_what_has_no_vector_yet_gets_one(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    code, said, seen = embed(ledger, "--only", "programs")
    assert (code, sorted(seen)) == (0, [f"programs/{key}" for key in PROGRAM_IDS])
    assert "3 vectors stored" in said
    code, said, seen = embed(ledger, most="2")
    assert code == 2
    assert "exit code 1 while 3 texts wait" in said
    assert len(stored(ledger)) == 5
    code, said, seen = embed(ledger)
    assert (code, len(seen)) == (0, 3)
    assert "3 vectors stored" in said
    assert stored(ledger) == [*(("programs", key) for key in PROGRAM_IDS), *(("turns", key) for key in TURN_IDS)]
    assert {row["dim"] for row in rows_of(ledger, "embeddings")} == {26}
    assert embed(ledger)[1:] == ("aix: 0 vectors stored\n", [])
    assert len(embed(ledger, "--again", "--session", "tides")[2]) == 2
    assert len(stored(ledger)) == 8


def given(ledger: Path, *keys: str, model: str = "m") -> None:
    with open_ledger(ledger) as opened:
        plan = plan_embedding(opened, EmbeddingRequest(model=model))
        texts = dict(texts_to_embed(opened, plan))
    wanted = [key for key in texts if not keys or key.partition("/")[2] in keys]
    add_embeddings(ledger, model, [(Entity(*key.split("/", 1)), embed_words(texts[key])) for key in wanted])


def nearest(ledger: Path, like: Like, among: Among = Among.TURNS) -> list[str]:
    with open_ledger(ledger) as opened:
        return [key for key, _ in EmbeddingComparison(opened, "m", None).nearest(like, among)]


def test_forgetting_a_session_forgets_its_vectors(ledger: Path) -> None:
    given(ledger)
    forget(ledger, Selection(labels=["tides"]))
    assert [key for _, key in stored(ledger)] == [*PROGRAM_IDS, "queue-0", "queue-1", "ships-0"]
    with duckdb.connect() as connection:
        create_views(connection, ledger, read_latest(ledger))
        selection = select_match(connection, "Keeper of the token")
    forget(ledger, selection)
    assert [key for _, key in stored(ledger)] == ["harbour-task", "tide-notes", "queue-0", "queue-1", "ships-0"]


def test_a_vector_is_replaced_and_one_of_what_is_gone_is_not_stored(ledger: Path) -> None:
    entities = Entity("turns", "tides-0"), Entity("turns", "gone")
    assert add_embeddings(ledger, "m", [(entity, [1.0, 2.0]) for entity in entities]) == 1
    assert add_embeddings(ledger, "other", [(entities[0], [5.0])]) == 1
    assert add_embeddings(ledger, "m", [(entities[0], [3.0, 4.0])]) == 1
    found = [(row["model"], row["entity_id"], row["vec"]) for row in rows_of(ledger, "embeddings")]
    assert found == [("m", "tides-0", [3.0, 4.0]), ("other", "tides-0", [5.0])]


def test_turns_sessions_and_programs_are_compared_by_stored_vectors(ledger: Path) -> None:
    given(ledger, *TURN_IDS[1:], *PROGRAM_IDS)
    assert nearest(ledger, Like(table="turns", key="queue-0")) == []
    assert nearest(ledger, Like(table="turns", key="queue-1"))[0] == "queue-1"
    assert set(nearest(ledger, Like(table="sessions", key="tides"), Among.SESSIONS)) == {"tides", "queue", "ships"}
    assert nearest(ledger, Like(table="sessions", key="tides"), Among.SESSIONS)[0] == "tides"
    assert nearest(ledger, Like(table="programs", key="tide-notes"), Among.PROGRAMS)[0] == "tide-notes"


def test_turns_without_a_whole_answer_wait(ledger: Path) -> None:
    asked = message("m-open", "open", "user", content="x")
    deliver(ledger, {"turns": [turn("open", "ships-0", 9)], "messages": [asked]})
    with open_ledger(ledger) as opened:
        plan = plan_embedding(opened, EmbeddingRequest(model="m"))
    assert plan.unanswered == 1
    assert ("turns", "open") not in plan.wanted


def test_the_command_gets_prompt_summary_paths_and_answer_and_no_results(ledger: Path) -> None:
    with open_ledger(ledger) as opened:
        texts = dict(texts_to_embed(opened, plan_embedding(opened, EmbeddingRequest(model="m"))))
    assert texts["turns/ships-0"] == "Which ships are moored in the harbour tonight?\n\nThree ships, and a tug."
    assert SECRET not in "".join(texts.values())


def test_redaction_hides_secrets_from_the_command(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deliver(ledger, talk("leak", [(f"my token is {SECRET}", "Noted.")]))
    sent: list[object] = []

    def keep(_: EmbeddingCommand, texts: Iterable[object], __: int | None) -> Iterator[object]:
        sent.extend(texts)
        return iter(())

    monkeypatch.setattr(EmbeddingCommand, "vectors", keep)
    for options in ((), ("--redact",)):
        run_in_process("embed", "--model", "m", "--command", "x", "--ledger", str(ledger), *options)
        assert (SECRET in str(sent)) == (not options)
        sent.clear()


def test_a_dry_run_counts_and_runs_nothing(ledger: Path) -> None:
    done = run_in_process("embed", "--model", "m", "--command", "/nowhere", "--dry-run", "--ledger", str(ledger))
    assert done.returncode == 0
    assert "8 texts of " in done.stderr
    assert stored(ledger) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--command", "x"), "Name the vectors with --model"),
        (("--model", "m"), "Name the program with --command"),
        (("--model", "m", "--command", "'x"), "a quote that is not closed"),
        (("--model", "m", "--command", "x", "--only", "programs", "--tag", "t"), "The filters are for turns"),
        (("--model", " \n", "--command", "x"), "Name the vectors with --model"),
        (("--model", "m", "--command", "/nowhere/embed"), "/nowhere/embed: it cannot be started"),
    ],
)
def test_a_wrong_command_line_is_explained(made: Path, options: tuple[str, ...], message: str) -> None:
    done = run_in_process("embed", *options, "--ledger", str(made))
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.long
def test_a_text_is_compared_by_the_same_command(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    embed(ledger)
    program = shlex.join([sys.executable, str(ledger.parent / "embed.py"), str(ledger.parent / "seen")])
    asked = ("similar", "which ships are moored", "--embedding", "m", "--ledger", str(ledger), "--json")
    done = run_in_process(*asked, AIX_EMBEDDING_COMMAND=program)
    assert json.loads(done.stdout)[0]["turn_id"] == "ships-0", done.stderr
    assert "a text needs the command" in run_in_process(*asked).stderr
    unknown = run_in_process("similar", "x", "--embedding", "mm", "--ledger", str(ledger))
    assert "did you mean m?" in unknown.stderr
