"""Chat exports for tests: their records, files that hold them, and what the importer makes of these."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from aix.importing import Candidate, Problem, Source, Ties
from aix_importers.chat import ChatImporter
from tests import ROOT
from tests.importers.session_log.logs import Statements, candidates

FIXTURES = ROOT / "fixtures" / "chat"
SITUATIONS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
START = 1767607200000
"""The moment at which the messages of each fixture begin."""

Export = Mapping[str, Sequence[Mapping[str, object]]]
"""The records of an export, by collection."""


def sources_in(*paths: Path) -> list[Source]:
    return list(ChatImporter().discover(candidates(*paths)))


def claims(path: Path) -> bool:
    state = path.stat()
    return bool(list(ChatImporter().discover([Candidate(str(path), state.st_size, state.st_mtime_ns, state.st_ino)])))


def extract(*paths: Path) -> tuple[Statements, list[Problem]]:
    """Read the exports in these files and folders together."""
    return extract_sources(sources_in(*paths))


def extract_sources(sources: Sequence[Source]) -> tuple[Statements, list[Problem]]:
    statements: Statements = {}
    problems = []
    for each in ChatImporter().extract(sources):
        if isinstance(each, Problem):
            problems.append(each)
        elif not isinstance(each, Ties):
            tables = statements.setdefault(f"{each.source.name}~{each.copy}", {})
            rows = [dict(zip(each.columns, values, strict=True)) for values in zip(*each.columns.values(), strict=True)]
            tables.setdefault(each.table, []).extend(
                {name: value for name, value in row.items() if value is not None} for row in rows
            )
    return statements, problems


def rows(statements: Statements, table: str) -> list[dict[str, object]]:
    return [dict(row) for tables in statements.values() for row in tables.get(table, ())]


def chat(name: str = "c", count: int = 2) -> dict[str, list[dict[str, object]]]:
    """Return an export of one conversation between a person and two agents, with so many exchanges."""
    participants: list[dict[str, object]] = [
        {"_id": f"{name}-ann", "conversationId": name, "kind": "user", "userId": "ann", "addedAt": START - 1},
        {"_id": f"{name}-one", "conversationId": name, "kind": "agent", "agentId": "one", "addedAt": START - 1},
        {"_id": f"{name}-two", "conversationId": name, "kind": "agent", "agentId": "two", "addedAt": START - 1},
    ]
    messages = [
        {
            "_id": f"{name}-{number}-{author}",
            "_creationTime": START + 10_000 * number + 1_000 * place + 0.5,
            "conversationId": name,
            "authorParticipantId": f"{name}-{author}",
            "kind": "participant",
            "content": f"{author} says {number}",
        }
        for number in range(count)
        for place, author in enumerate(("ann", "one", "two"))
    ]
    return {
        "users": [{"_id": "ann", "name": "Ann"}],
        "agents": [
            {"_id": "one", "name": "One", "createdBy": "ann", "kind": "user_agent", "personality": "You are one."},
            {"_id": "two", "name": "Two", "createdBy": "ann", "kind": "user_agent", "tools": ["search"]},
        ],
        "conversations": [{"_id": name, "title": f"Chat {name}", "createdBy": "ann", "lastMessageTime": START}],
        "participants": participants,
        "messages": messages,
    }


def write_lines(path: Path, records: Iterable[Mapping[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    return written_at(START, path)


def write_document(path: Path, export: Export) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(export, indent=1), "utf-8")
    return written_at(START, path)


def written_at(moment: int, path: Path) -> Path:
    os.utime(path, (moment / 1000, moment / 1000))
    return path


def all_records(export: Export) -> list[tuple[str, Mapping[str, object]]]:
    """Return all records, each with its collection."""
    return [(collection, record) for collection, listed in export.items() for record in listed]
