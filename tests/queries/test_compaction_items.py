"""Things that a summary could have named, on a log of two compactions."""

import json
from collections.abc import Iterator

import pytest

import aix
from aix.pipeline.run import Settings, import_histories
from aix.reading.ledger import Ledger

SESSION = "c0ffee01-5e55-4000-8000-000000000001"
ITEMS = """
select i.item, i.times, i.is_named
from v_compaction_items i
join v_compactions c on c.turn_id = i.compaction_turn_id
where i.kind = '{kind}'
order by c.compacted_at, i.item
"""


class Log:
    """The lines of a session, each a second after the one before."""

    def __init__(self) -> None:
        self.lines: list[dict[str, object]] = []

    def _add(self, parent: str | None, **record: object) -> None:
        number = len(self.lines)
        self.lines.append(
            {
                "parentUuid": parent,
                "uuid": f"c0ffee01-0000-4000-8000-{number:012d}",
                "timestamp": f"2026-03-18T10:00:{number:02d}.000Z",
                "sessionId": SESSION,
                "version": "2.1.88",
                "cwd": "/home/ada/press",
                **record,
            }
        )

    @property
    def last(self) -> str | None:
        return str(self.lines[-1]["uuid"]) if self.lines else None

    def say(self, text: str, **more: object) -> None:
        self._add(self.last, type="user", message={"role": "user", "content": text}, **more)

    def call(self, tool: str, result: str = "done", **parameters: object) -> None:
        call = f"toolu_01c0ffee{len(self.lines):016d}"
        content = [{"type": "tool_use", "id": call, "name": tool, "input": parameters}]
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {"id": f"msg_01c0ffee{len(self.lines):016d}", "model": "claude-x", "content": content, "usage": usage}
        self._add(self.last, type="assistant", message={"role": "assistant", "stop_reason": "tool_use", **message})
        answer = [{"type": "tool_result", "tool_use_id": call, "content": result}]
        self._add(self.last, type="user", message={"role": "user", "content": answer})

    def compact(self, summary: str) -> None:
        before = self.last
        metadata = {"trigger": "manual", "preTokens": 1000}
        self._add(None, type="system", subtype="compact_boundary", logicalParentUuid=before, compactMetadata=metadata)
        self.say(summary, isCompactSummary=True)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    log = Log()
    log.say("Tidy the archive_index of the printing house, please.")
    log.call("TaskCreate", subject="Sort letters")
    log.call("TaskCreate", subject="Bind volumes")
    log.call("TaskUpdate", taskId="1", status="completed")
    log.call("Read", file_path="/home/ada/press/src/a.py")
    log.call("Read", file_path="/home/ada/press/extra.py")
    log.say("<task-notification>archive_index is being rebuilt</task-notification>")
    log.compact("Tidy the archive of the printing house: extra.py holds it. Volumes: bind them next.")
    log.say("Ja.")
    log.call("TaskCreate", subject="Clean rollers")
    log.call("TaskUpdate", taskId="2", status="completed")
    log.call("TaskUpdate", taskId="3", owner="ada")
    log.compact("Nothing is left to do.")
    folder = tmp_path_factory.mktemp("items")
    path = folder / "projects" / "-home-ada-press" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in log.lines))
    import_histories(folder / "ledger", [folder / "projects"], Settings(jobs=0))
    with aix.open(folder / "ledger") as opened:
        yield opened


def items(ledger: Ledger, kind: str) -> list[tuple[object, ...]]:
    return ledger.sql(ITEMS.format(kind=kind)).rows()


def test_a_task_is_open_until_an_update_of_its_number_in_the_session_closes_it(ledger: Ledger) -> None:
    assert items(ledger, "todo") == [("Bind volumes", 1, True), ("Clean rollers", 1, False)]


def test_a_file_is_named_by_whole_words_of_its_name(ledger: Ledger) -> None:
    assert items(ledger, "file") == [
        ("/home/ada/press/extra.py", 1, True),
        ("/home/ada/press/src/a.py", 1, False),
    ]


def test_an_instruction_is_what_a_user_said_in_words_that_can_be_looked_for(ledger: Ledger) -> None:
    assert items(ledger, "instruction") == [("Tidy the archive_index of the printing house, please.", 1, False)]


def test_an_identifier_is_named_as_a_whole(ledger: Ledger) -> None:
    assert items(ledger, "identifier") == [("archive_index", 1, False)]
