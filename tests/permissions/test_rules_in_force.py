"""Rules are in force as the latest reading of their file shows them, in every table and view about rules."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import aix
from aix.permissions.contract import Rule, dialects
from aix.permissions.rule_book import in_force_rows, rule_book
from aix.pipeline.run import Settings, import_histories
from aix.query.views import create_library_views, library_views
from aix.reading.ledger import Ledger

CLAUDE, CURSOR, PERSONAS = "{}/.claude/settings.json", "{}/.cursor/cli.json", "{}/programs.json"
GONE = None


def rules(*denied: str) -> str:
    return json.dumps({"permissions": {"deny": denied}})


def personas(*names: str) -> str:
    tools = {name: {"permissions": {"tools": {"deny": [f"tool_of_{name}"]}}} for name in names}
    return json.dumps([{"id": name, "programType": "agent", "config": tools[name]} for name in names])


STATES: dict[str, tuple[str, tuple[str | None, ...], set[str]]] = {
    "one_taken_out": (CLAUDE, (rules("Bash(make *)", "Read"), rules("Read", "WebFetch")), {"Read", "WebFetch"}),
    "all_taken_out": (CLAUDE, (rules("Bash(make *)", "Read"), rules()), set()),
    "no_permissions": (CLAUDE, (rules("Read"), "{}"), set()),
    "null_permissions": (CLAUDE, (rules("Read"), '{"permissions": null, "model": "any"}'), set()),
    "came_back": (CLAUDE, (rules("Read"), "{}", rules("Read")), {"Read"}),
    "moved_to_another_day": (CLAUDE, (rules("Read"), rules("Read")), {"Read"}),
    "cursor_all_taken_out": (CURSOR, (rules("Shell(make)"), rules()), set()),
    "cursor_no_permissions": (CURSOR, (rules("Shell(make)"), "{}"), set()),
    "cursor_null_permissions": (CURSOR, (rules("Shell(make)"), '{"permissions": null}'), set()),
    "persona_taken_out": (PERSONAS, (personas("ada", "bob"), personas("bob")), {"tool_of_bob"}),
    "all_personas_taken_out": (PERSONAS, (personas("ada", "bob"), "[]"), set()),
    "deleted": (CLAUDE, (rules("Read"), GONE), {"Read"}),
    "empty": (CLAUDE, (rules("Read"), ""), {"Read"}),
    "broken": (CLAUDE, (rules("Read"), '{"permissions": ['), {"Read"}),
    "unusable_entry": (CLAUDE, (rules("Read"), '{"permissions": {"deny": [7]}}'), {"Read"}),
    "cursor_broken": (CURSOR, (rules("Shell(make)"), '{"permissions": []}'), {"Shell(make)"}),
}
"""By folder: a file, what it held at one moment after the other, and what is in force in the end."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("in_force")
    for moment in range(3):
        for name, (form, states, _) in STATES.items():
            file = folder / "logs" / form.format(name)
            file.parent.mkdir(parents=True, exist_ok=True)
            if moment < len(states):
                write(file, states[moment], 1_770_000_000 + moment)
        import_histories(folder / "ledger", [folder / "logs"], Settings(jobs=0))
    with aix.open(folder / "ledger") as opened:
        yield opened


def write(file: Path, content: str | None, at: int) -> None:
    if content is None:
        file.unlink()
    else:
        file.write_text(content, "utf-8")
        os.utime(file, (at, at))


@pytest.mark.parametrize("name", STATES)
def test_rules_are_in_force_as_the_latest_whole_reading_of_their_file_shows_them(ledger: Ledger, name: str) -> None:
    form, _, expected = STATES[name]
    of_the_file = f"where contains(file, '/{form.format(name)}')"
    assert {rule for (rule,) in ledger.sql(f"select rule from rules_in_force {of_the_file}").rows()} == expected
    assert {rule for (rule,) in ledger.sql(f"select rule from v_rules {of_the_file}").rows()} == expected
    assert ledger.sql(f"select count(*) > 0 from permission_rules {of_the_file}").rows() == [(True,)]


def test_the_book_has_what_the_table_has(ledger: Ledger) -> None:
    book = ledger.rule_book
    known = {(rule.file, rule.text) for listed in book.rules.values() for rule in listed}
    assert known == set(ledger.sql("select file, rule from rules_in_force").rows())


ODD_FILES = [
    ("claude-code", "project", "/srv/app/.claude/settings.json"),
    ("claude-code", "local", "/srv/settings.local.json"),
    ("claude-code", "project", r"C:\work\app\.claude\settings.json"),
    ("claude-code", "project", "/home/ada/It's 100%_[odd]/.claude/settings.json"),
    ("claude-code", "user", "/home/ada/.claude/settings.json"),
    ("claude-code", "user", "/root/.claude/settings.json"),
    ("claude-code", "user", r"C:\Users\bo\.claude\settings.json"),
    ("claude-code", "user", "/opt/config/settings.json"),
    ("claude-code", "managed", "/etc/claude-code/managed-settings.json"),
    ("cursor", "project", "/srv/app/.cursor/cli.json"),
    ("cursor", "project", "/srv/app/cli.json"),
    ("cursor", "user", "/home/ada/.cursor/permissions.json"),
]
ODD_PLACES = [
    "/srv/app", "/srv/app/src", "/srv/apple", "/srv", "/", "", "/home/ada", "/home/adam", "/home/ada/It's 100%_[odd]/x",
    "/home/ada/Its 100%_[odd]", "/root", "/rootfs", "/var/root/x", "/mnt/c/Users/bo/x", r"C:\work\app",
    r"C:\work\app\src",
    "C:/work/app", r"C:\work\apple", r"C:\Users\bo\x", "/Users/ada", "~/x", "relative/path",
]  # fmt: skip


def test_the_view_of_places_has_rules_where_the_book_has_them() -> None:
    rows = [(origin, scope, file, 0, "allow", "Bash(make)") for origin, scope, file in ODD_FILES]
    book = rule_book(rows)
    held = list(in_force_rows(book, {(*row[:3], *row[4:]) for row in rows}))
    with duckdb.connect() as connection:
        names = ("origin", "scope", "file", "kind", "rule", "folder", "is_tool_wide")
        connection.execute(f"create table v_rules ({', '.join(f'{name} text' for name in names)})")
        connection.executemany("insert into v_rules values (?, ?, ?, ?, ?, ?, ?)", held)
        connection.execute("create table call_targets (origin text, cwd text)")
        places = [(origin, cwd) for origin in ("claude-code", "cursor") for cwd in ODD_PLACES]
        connection.executemany("insert into call_targets values (?, ?)", places)
        create_library_views(connection, [library_views()["v_rule_places"]])
        told = set(connection.execute("select origin, cwd, scope, file from v_rule_places").fetchall())
    assert told == {
        (origin, cwd, rule.scope, rule.file)
        for origin, cwd in places
        if (found := book.in_force(origin, cwd))
        for rule in found.rules
    }
    assert {file: folder for _, _, file, _, _, folder, _ in held if folder} == {
        "/srv/app/.claude/settings.json": "/srv/app",
        "/srv/settings.local.json": "/srv",
        r"C:\work\app\.claude\settings.json": "C:/work/app",
        "/home/ada/It's 100%_[odd]/.claude/settings.json": "/home/ada/It's 100%_[odd]",
        "/home/ada/.claude/settings.json": "/home/ada",
        "/root/.claude/settings.json": "/root",
        r"C:\Users\bo\.claude\settings.json": "C:/Users/bo",
        "/srv/app/.cursor/cli.json": "/srv/app",
        "/home/ada/.cursor/permissions.json": "/home/ada",
    }


def test_rules_hold_in_the_fixtures_where_the_book_has_them(permission_ledger: Path) -> None:
    with aix.open(permission_ledger) as opened:
        book = opened.rule_book
        places = opened.sql("select distinct origin, cwd from call_targets where cwd is not null").rows()
        told = set(opened.sql("select origin, cwd, scope, file from v_rule_places").rows())
    assert told == {
        (origin, cwd, rule.scope, rule.file)
        for origin, cwd in places
        if (found := book.in_force(str(origin), str(cwd)))
        for rule in found.rules
        if rule.kind != "mode"
    }


@pytest.mark.parametrize(
    ("origin", "wide", "narrow"),
    [
        (
            "claude-code",
            [
                "Bash",
                "Bash(*)",
                "Bash(:*)",
                "Edit(/**)",
                "Read(~/**)",
                "WebFetch(domain:*)",
                "mcp__shelf",
                "mcp__shelf__*",
                "*",
            ],
            ["Bash(ls)", "Bash(git *)", "Edit(/src/**)", "WebFetch(domain:a.example)", "mcp__shelf__read_page"],
        ),
        (
            "cursor",
            ["Shell(*)", "Read(**)", "Write(/**)", "Mcp(shelf:*)"],
            ["Shell(git)", "Read(src/**)", "Mcp(shelf:read)"],
        ),
        ("session-log", ["Bash", "read_file", "Bash(*)"], ["Bash(git *)", "Read(/etc/*)"]),
    ],
)
def test_a_dialect_tells_rules_on_a_whole_tool_from_others(origin: str, wide: list[str], narrow: list[str]) -> None:
    told = {text: dialects()[origin].is_tool_wide(Rule("allow", text, "user", "f", 0, "")) for text in wide + narrow}
    assert told == dict.fromkeys(wide, True) | dict.fromkeys(narrow, False)
