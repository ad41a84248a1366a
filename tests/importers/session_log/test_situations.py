"""The rows of each situation in `fixtures/session_log`, all of them imported together."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from aix.health import Severity, check
from aix.importing import Problem
from aix.reading.ledger import Ledger, open_ledger
from tests.importers.session_log.logs import FIXTURES, SITUATIONS, import_logs, kinds

T = 1767607200000
"""The moment at which each log of the fixtures begins."""
TURNS = """
select c.turn_key, p.turn_key, t.status, t.started_at - 1767607200000, t.completed_at - 1767607200000
from turns t join turn_context c on c.turn_id = t.id left join turn_context p on p.turn_id = t.parent_turn_id
where c.origin_session_id = $1 order by t.started_at, c.turn_key
"""
MESSAGES = """
select json_extract_string(m.metadata_json, '$.uuid'), c.turn_key, m.sequence, m.role, m.source
from messages m join turn_context c on c.turn_id = m.turn_id join turns t on t.id = m.turn_id
where c.origin_session_id = $1 order by t.started_at, c.turn_key, m.sequence
"""
REQUESTS = """
select json_extract_string(m.metadata_json, '$.uuid'), r.model, r.provider, r.input_tokens, r.output_tokens,
  r.cache_read_tokens, r.cache_write_tokens, r.context_tokens, r.is_usage_final
from requests r join messages m on m.id = r.message_id where r.session_label = 'session-log:' || $1 order by 1
"""
SESSIONS = """
select s.label, c.turn_key, s.status, s.created_at - 1767607200000, s.updated_at - 1767607200000
from sessions s join turn_context c on c.turn_id = s.thread_id where s.origin_session_id = $1 order by s.label
"""
INFERRED = """
select i.table_name, i.column_name, i.basis, count(*) from inferred_values i where i.row_key in (
  select m.id from messages m join turn_context c on c.turn_id = m.turn_id where c.origin_session_id = $1
  union all select turn_id from turn_context where origin_session_id = $1
  union all select id from requests where session_label = 'session-log:' || $1
  union all select label from sessions where origin_session_id = $1
) group by all order by all
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Problem]]:
    folder = tmp_path_factory.mktemp("ledger")
    return folder, import_logs(folder, FIXTURES)


@pytest.fixture(scope="module")
def ledger(imported: tuple[Path, list[Problem]]) -> Iterator[Ledger]:
    with open_ledger(imported[0]) as opened:
        yield opened


@pytest.fixture(scope="module")
def problems(imported: tuple[Path, list[Problem]]) -> dict[str, list[Problem]]:
    found: dict[str, list[Problem]] = {situation: [] for situation in SITUATIONS}
    for problem in imported[1]:
        found[Path(problem.source.path).relative_to(FIXTURES).parts[0]].append(problem)
    return found


def ask(ledger: Ledger, query: str, session: str) -> list[tuple[object, ...]]:
    return ledger.sql(query, [session]).rows()


def metadata(ledger: Ledger, uuid: str) -> dict[str, object]:
    query = "select metadata_json from messages where json_extract_string(metadata_json, '$.uuid') = $1"
    [(text,)] = ledger.sql(query, [uuid]).rows()
    found: dict[str, object] = json.loads(text)
    return found


def test_the_ledger_of_all_situations_keeps_its_promises(imported: tuple[Path, list[Problem]]) -> None:
    broken = [finding for finding in check(imported[0]) if finding.count]
    assert [(finding.name, finding.reason) for finding in broken if finding.severity is Severity.HARD] == []
    # The situation `principals` has one of an unknown type, and a chain that comes back to itself.
    assert [(finding.name, finding.count) for finding in broken] == [("principal_chains", 2)]


def test_entries_and_tokens_are_as_many_as_a_plain_count_finds(ledger: Ledger) -> None:
    entries, tokens = set(), dict.fromkeys(("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"), 0)
    for situation in SITUATIONS:
        if situation in ("duplicate_uuid", "wrong_types", "two_objects_on_one_line", "nul_bytes", "snake_case_usage"):
            continue
        for log in (FIXTURES / situation / "input").rglob("*.jsonl"):
            for line in log.read_text("utf-8-sig", "replace").splitlines():
                entry = json.loads(line) if line.endswith("}") else {}
                if "message" in entry and not entry["sessionId"].startswith("never"):
                    entries.add(entry["uuid"])
                    for name in tokens:
                        tokens[name] += entry["message"].get("usage", {}).get(name, 0)
    query = """
        select count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens)
        from messages m left join requests r on r.message_id = m.id join turn_context c on c.turn_id = m.turn_id
        where origin_session_id not in ('dup-session', 'wrong-session', 'several-on-line-session', 'nul-session',
          'snake-session')
    """
    assert [int(number) for number in ledger.sql(query).rows()[0]] == [len(entries), *tokens.values()]


def test_two_turns(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert problems["two_turns"] == []
    assert ask(ledger, TURNS, "two-turns-session") == [
        ("two-turns-u1", None, "completed", 0, 3000),
        ("two-turns-u2", "two-turns-u1", "completed", 60_000, 64_000),
    ]
    assert ask(ledger, MESSAGES, "two-turns-session") == [
        ("two-turns-u1", "two-turns-u1", 0, "user", "human"),
        ("two-turns-a1", "two-turns-u1", 1, "assistant", None),
        ("two-turns-u2", "two-turns-u2", 0, "user", "human"),
        ("two-turns-a2", "two-turns-u2", 1, "assistant", None),
    ]
    assert ask(ledger, REQUESTS, "two-turns-session") == [
        ("two-turns-a1", "claude-sonnet-4-5", "anthropic", 12, 5, 100, 30, 142, True),
        ("two-turns-a2", "claude-sonnet-4-5", "anthropic", 20, 9, None, None, 20, True),
    ]
    assert ask(ledger, SESSIONS, "two-turns-session") == [
        ("session-log:two-turns-session", "two-turns-u2", "active", 0, 64_000)
    ]
    query = "select session_label, reason, created_at from session_aliases where alias = $1"
    assert ask(ledger, query, "two-turns-session") == [("session-log:two-turns-session", "manual", T)]
    assert ask(ledger, INFERRED, "two-turns-session") == [
        ("messages", "source", "role", 2),
        ("sessions", "persona_id", "no_owner", 1),
        ("threads", "persona_id", "no_owner", 2),
    ]


def test_snake_case_usage(ledger: Ledger) -> None:
    assert ask(ledger, REQUESTS, "snake-session") == [("snake-a1", "claude-sonnet-4-5", None, 7, 2, 40, 11, 58, True)]
    assert metadata(ledger, "snake-a1")["message"] == {
        "model": "claude-sonnet-4-5",
        "usage": {
            "input_tokens": 7,
            "output_tokens": 2,
            "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 11,
            "service_tier": "standard",
        },
    }


def test_missing_parent(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert problems["missing_parent"] == []
    name = "missing-parent"
    assert ask(ledger, TURNS, f"{name}-session") == [
        (f"{name}-u1", None, "completed", 0, 2000),
        (f"{name}-u2", f"{name}-u1", "completed", 30_000, 33_000),
        (f"{name}-u3", f"{name}-u2", "failed", 60_000, 60_000),
        (f"{name}-u4", f"{name}-u3", "completed", 70_000, 75_000),
    ]
    assert (f"{name}-a4", f"{name}-u4", 1, "assistant", None) in ask(ledger, MESSAGES, f"{name}-session")
    inferred = ask(ledger, INFERRED, f"{name}-session")
    assert ("messages", "turn_id", "log_order", 1) in inferred
    assert ("requests", "turn_id", "log_order", 1) in inferred
    assert ("turns", "parent_turn_id", "log_order", 3) in inferred


def test_lone_user_entries(ledger: Ledger) -> None:
    assert ask(ledger, TURNS, "lone-session") == [
        ("lone-u1", None, "failed", 0, 0),
        ("lone-u2", "lone-u1", "failed", 5000, 5000),
        ("lone-u3", "lone-u2", "pending", 9000, None),
    ]


def test_model_switch(ledger: Ledger) -> None:
    query = "select t.model, t.provider from turns t join turn_context c on c.turn_id = t.id where c.turn_key = $1"
    assert ask(ledger, query, "switch-u1") == [("claude-sonnet-4-5", "anthropic")]
    assert ask(ledger, query, "switch-u2") == [("gemini-flash", "google")]


def test_references_resolved_by_programs(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert kinds(problems["references_resolved_by_programs"]) == ["credentials"]
    assert [row[:3] for row in ask(ledger, REQUESTS, "refs-session")] == [
        ("refs-a1", "claude-sonnet-4-5", "cloudflare-ai-gateway"),
        ("refs-a2", "gone-model", "gone-provider"),
        ("refs-a3", "claude-sonnet-4-5", "cloudflare-ai-gateway"),
    ]
    assert ask(ledger, INFERRED, "refs-session") == [
        ("requests", "model", "session_default", 1),
        ("requests", "model", "unresolved_reference", 1),
        ("requests", "provider", "session_default", 1),
        ("requests", "provider", "unresolved_reference", 1),
        ("turns", "parent_turn_id", "log_order", 2),
    ]
    query = """
        select persona_id, routing_key, task_description, task_status, status from sessions
        where origin_session_id = $1
    """
    task = "Research quantum computing"
    assert ask(ledger, query, "refs-session") == [("researcher", "owner:researcher", task, "running", "archived")]
    query = """
        select t.role, t.toolset_name, t.tools_available, t.permissions_granted, h.persona_id, h.system_prompt_hash,
          c.principal, c.situation
        from turns t join turn_context c on c.turn_id = t.id join threads h on h.turn_id = t.id where c.turn_key = $1
    """
    [(role, toolset, tools, permissions, *rest)] = ask(ledger, query, "refs-u1")
    assert (role, toolset, tools) == ("worker", "researcher", '["web-search","summarize"]')
    assert json.loads(str(permissions)) == {
        "mode": None,
        "ask": [],
        "deny": [],
        "dirs": [],
        "policy": None,
        "principal": {"id": "researcher", "type": "agent", "on_behalf_of": None},
        "basis": "none",
    }
    assert rest == ["researcher", sha256(b"You are a research assistant.").hexdigest(), "researcher", "coding"]
    assert {row[4] for row in ask(ledger, MESSAGES, "refs-session")} == {"agent", None}
    [(config,)] = ask(ledger, "select config_json from programs where id = $1", "cf-gateway")
    assert json.loads(str(config)) == {
        "providerType": "cloudflare-ai-gateway",
        "accountId": "${CLOUDFLARE_ACCOUNT_ID}",
        "gatewayToken": "${GATEWAY_TOKEN}",
    }


def test_human_owner(ledger: Ledger) -> None:
    query = "select t.permissions_granted from turns t join turn_context c on c.turn_id = t.id where c.turn_key = $1"
    [(permissions,)] = ask(ledger, query, "human-u1")
    granted = json.loads(str(permissions))
    assert (granted["allow"], granted["principal"]["id"]) == (["approve", "assign"], "ada")
    assert ask(ledger, INFERRED, "human-session") == []


def test_fork(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert problems["fork"] == []
    assert [row[:2] for row in ask(ledger, TURNS, "fork-session")] == [
        ("fork-u1", None),
        ("fork-u2", "fork-u1"),
        ("fork-u3", "fork-u1"),
        ("fork-u4", "fork-u2"),
    ]
    [main, *branches] = ask(ledger, SESSIONS, "fork-session")
    assert main == ("session-log:fork-session", "fork-u4", "active", 0, 31_000)
    assert sorted(row[1:] for row in branches) == [
        ("fork-u2", "archived", 10_000, 11_000),
        ("fork-u3", "archived", 20_000, 21_000),
    ]


def test_several_queries(ledger: Ledger) -> None:
    assert ask(ledger, TURNS, "queries-session") == [("queries-u1", None, "completed", 0, 5000)]
    assert [row[0] for row in ask(ledger, MESSAGES, "queries-session")] == [
        "queries-u1",
        "queries-u2",
        "queries-u3",
        "queries-a1",
    ]


def test_duplicate_uuid(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert [(problem.kind, problem.line) for problem in problems["duplicate_uuid"]] == [
        ("duplicate_uuid", 3),
        ("duplicate_uuid", 4),
    ]
    query = "select content from messages where json_extract_string(metadata_json, '$.uuid') = $1"
    assert ask(ledger, query, "dup-a1") == [("Short, and then the rest of it",)]
    assert ask(ledger, REQUESTS, "dup-session") == [("dup-a1", "claude-sonnet-4-5", None, 5, 7, None, None, 5, True)]


def test_unknown_parent(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert [(problem.kind, problem.line) for problem in problems["unknown_parent"]] == [
        ("unknown_parent", 1),
        ("unknown_parent", 3),
        ("unknown_parent", 4),
    ]
    assert all("is not in the log" in problem.reason for problem in problems["unknown_parent"])
    assert [row[:2] for row in ask(ledger, TURNS, "unknown-session")] == [
        ("unknown-u1", None),
        ("unknown-u2", "unknown-u1"),
    ]
    assert ("unknown-a2", "unknown-u2", 1, "assistant", None) in ask(ledger, MESSAGES, "unknown-session")


def test_cycle(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    first, second = problems["cycle"]
    assert "comes later in the log" in first.reason
    assert "is the entry itself" in second.reason
    assert [row[:3] for row in ask(ledger, TURNS, "cycle-session")] == [
        ("cycle-u1", None, "completed"),
        ("cycle-u2", "cycle-u1", "pending"),
    ]


@pytest.mark.parametrize(
    ("situation", "session", "expected", "uuids"),
    [
        ("truncated_last_line", "trunc-session", ["truncated_line"], ["trunc-u1", "trunc-a1"]),
        (
            "two_objects_on_one_line",
            "several-on-line-session",
            ["several_values", "not_json"],
            ["several-on-line-u1", "several-on-line-a1", "several-on-line-u2"],
        ),
        ("nul_bytes", "nul-session", ["nul_bytes", "nul_bytes"], ["nul-u1", "nul-a1"]),
        ("bom", "bom-session", [], ["bom-u1", "bom-a1"]),
        ("invalid_utf8", "utf8-session", ["invalid_utf8"], ["utf8-u1", "utf8-a1"]),
        ("lone_surrogate", "surrogate-session", ["lone_surrogate"], ["surrogate-u1"]),
    ],
)
def test_broken_lines(
    ledger: Ledger,
    problems: dict[str, list[Problem]],
    situation: str,
    session: str,
    expected: list[str],
    uuids: list[str],
) -> None:
    assert kinds(problems[situation]) == expected
    assert [row[0] for row in ask(ledger, MESSAGES, session)] == uuids


def test_replaced_characters(ledger: Ledger) -> None:
    query = "select content from messages where json_extract_string(metadata_json, '$.uuid') = $1"
    assert ask(ledger, query, "utf8-u1") == [("caf\ufffd",)]
    assert ask(ledger, query, "surrogate-u1") == [("half \ufffd of 😀",)]


def test_wrong_types(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert [(problem.kind, problem.line) for problem in problems["wrong_types"]] == [
        ("wrong_type", 1),
        ("wrong_type", 2),
        ("wrong_type", 3),
        ("wrong_type", 4),
        ("no_uuid", 5),
        ("unknown_role", 6),
        ("no_message", 7),
        ("not_an_object", 8),
        ("not_json", 9),
        ("wrong_type", 11),
        ("no_session", 11),
    ]
    assert ask(ledger, REQUESTS, "wrong-session") == [
        ("wrong-a1", None, None, None, None, 12, None, None, True),
        ("wrong-a2", "claude-sonnet-4-5", None, None, None, None, None, None, None),
        ("wrong-a3", "claude-sonnet-4-5", None, None, None, None, None, None, None),
    ]
    query = "select latency_ms from requests where session_label = $1 order by latency_ms"
    assert ask(ledger, query, "session-log:wrong-session") == [(1500,), (None,), (None,)]
    assert metadata(ledger, "wrong-a1") == {
        "uuid": "wrong-a1",
        "parentUuid": "wrong-u1",
        "latencyMs": "fast",
        "requestId": 5,
        "message": {
            "content": ["not", "text"],
            "model": {"id": "x"},
            "usage": {
                "inputTokens": -1,
                "outputTokens": True,
                "cacheReadTokens": 12.0,
                "cacheWriteTokens": 9223372036854775808,
            },
        },
    }


def test_no_timestamps(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert kinds(problems["no_timestamps"]) == ["no_timestamp", "no_timestamp", "no_time", "no_time"]
    query = """
        select json_extract_string(m.metadata_json, '$.uuid'), m.created_at - 1767607200000 from messages m
        join turn_context c on c.turn_id = m.turn_id where c.origin_session_id = $1 order by 2, 1
    """
    assert ask(ledger, query, "notime-session") == [
        ("notime-a1", 2000),
        ("notime-u1", 2000),
        ("notime-u2", 2000),
        ("notime-a2", 10_000),
        ("notime-u3", 20_500),
        ("notime-u4", 21_000),
    ]
    inferred = ask(ledger, INFERRED, "notime-session")
    assert ("messages", "created_at", "neighbour", 2) in inferred
    assert ("turns", "started_at", "neighbour", 2) in inferred
    assert ask(ledger, SESSIONS, "never-session") == []


def test_several_sessions_in_one_file(ledger: Ledger) -> None:
    assert [row[:2] for row in ask(ledger, TURNS, "many-one")] == [("many-u1", None)]
    assert [row[:2] for row in ask(ledger, TURNS, "many-two")] == [("many-u2", None), ("many-u3", "many-u1")]
    [main, branch] = ask(ledger, SESSIONS, "many-two")
    assert (main[1], branch[1:3]) == ("many-u3", ("many-u2", "archived"))


def test_latency_and_situation(ledger: Ledger) -> None:
    query = """
        select r.latency_ms, r.requested_at - 1767607200000, r.origin_request_id, c.situation
        from requests r join turn_context c on c.turn_id = r.turn_id where r.session_label = $1 order by 2
    """
    assert ask(ledger, query, "session-log:latency-session") == [
        (11_750, 250, "req-latency-1", "coding"),
        (420, 20_580, "req-latency-2", "quick"),
    ]


def test_codeblocks(ledger: Ledger) -> None:
    query = """
        select b.idx, b.language, b.content from message_codeblocks b join requests r on r.message_id = b.message_id
        where r.session_label = $1 order by b.idx
    """
    assert ask(ledger, query, "session-log:code-session") == [
        (0, "python", "print(1)\n"),
        (1, "markdown", "```sh\nls\n```\n"),
        (2, "js", "let x = 1\n"),
        (3, None, "the end\n"),
    ]


def test_unknown_keys(ledger: Ledger, problems: dict[str, list[Problem]]) -> None:
    assert problems["unknown_keys"] == []
    assert metadata(ledger, "keys-u1") == {"uuid": "keys-u1", "version": 3, "tags": ["a", "b"]}
    assert metadata(ledger, "keys-a1") == {
        "uuid": "keys-a1",
        "parentUuid": "keys-u1",
        "trace": {"id": "t-1", "depth": 1.5},
        "message": {
            "model": "claude-sonnet-4-5",
            "usage": {"inputTokens": 5, "outputTokens": 2, "audioTokens": 4},
            "finishReason": "stop",
        },
    }
