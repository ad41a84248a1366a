"""`aix program list` and `aix program show`: the programs of the ledger, and one of them in detail."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from msgspec.structs import replace

from aix.cli.command import Command, Group, ledger_option, listing_output
from aix.cli.diagnostics import is_screen, say
from aix.cli.stdout import chosen_format, emit_paragraphs, emit_text
from aix.config import load_config
from aix.errors import AmbiguousNameError, UnknownNameError, UnknownProgramError
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import bounded_dollars, counted, grouped, local_time, one_line
from aix.output.paragraphs import Paragraph
from aix.reading.ledger import Ledger, open_ledger
from aix.store.manifest import count_rows

if TYPE_CHECKING:
    from aix.reading.result import Result

TYPES = ("code", "provider", "model", "session", "agent", "task", "information", "human")
_COLUMNS = listing_columns(
    ListingColumn("program", least=20),
    "type",
    "state",
    ListingColumn("name", priority=2, least=16),
    ListingColumn("cost", "BIGINT", priority=3, tone="cost"),
    ListingColumn("last event", priority=4, least=16),
    ListingColumn("missing", "BIGINT", priority=5),
    ListingColumn("refers to", "BIGINT", priority=6),
    ListingColumn("used by", "BIGINT", priority=6),
    ListingColumn("events", "BIGINT", priority=7),
)
_DETAIL_COLUMNS = listing_columns("part", "name", "value", ("at", "BIGINT"))
_NAME_CHARACTERS = 60
_EVENTS_SHOWN = 20
_INVENTORY = "programs/inventory"
_IDS = "select id from programs order by id"
_CONFIG = "select config_json from programs where id = $id"
_REFERENCES = """
select field, target_id, target_type, is_resolved
from v_program_references
where source_table = 'programs' and source_id = $id
order by field, target_id
"""
_REFERRERS = """
select r.source_id, r.field, p.program_type
from v_program_references r
join programs p on p.id = r.source_id
where r.source_table = 'programs' and r.target_id = $id
order by r.source_id, r.field
"""
_EVENTS = """
select occurred_at, kind, from_state, to_state, is_allowed, principal, on_behalf_of, reason
from v_program_history
where program_id = $id
order by event_order
"""
_ACTS = "select count(*) from program_events where principal = $id"
_LAST_STATE = "state of the last event"
_COSTS_BY = ("task", "agent", "human")
"""Types of programs that `aix cost --by` knows."""

_Row = dict[str, Any]


class _Fact(NamedTuple):
    """One line about a program."""

    part: str
    name: str
    value: str | None
    at: int | None = None


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List programs, or show one: its settings, references, events and cost.

    Programs are the parts that a system of agents is made of: code, providers, models, sessions, agents, tasks,
    information and humans. docs/programs.md says where they come from.

    \b
      aix program list --type task
      aix program show researcher
      aix cost --by task
      aix audit --pack programs
    """
    if ctx.invoked_subcommand is None:
        emit_text(ctx.get_help())


@command.command("list", cls=Command)
@click.option("--type", "program_type", metavar="TYPE", help=f"Only programs of this type: {', '.join(TYPES)}.")
@ledger_option
@listing_output
@click.pass_context
def list_programs(ctx: click.Context, program_type: str | None, ledger: Path) -> Listing:
    """List programs with their state, references and cost.

    `refers to` counts the programs that its settings name, `used by` the programs that name it, `missing` the
    references that lead nowhere. The cost is that of the requests that belong to the program: those of its session,
    agent, task, human, model or provider; ≥ marks one that leaves out requests without a known price. All other
    formats have every column of queries/programs/inventory.sql.

    \b
      aix program list
      aix program list --type task --format csv
    """
    opened = open_ledger(ledger)
    found = _inventory(opened, "program_type", program_type)
    rows = found.dicts()
    if program_type is not None and not rows:
        known = tuple(name for (name,) in opened.sql("select distinct program_type from programs order by all"))
        if program_type not in (*TYPES, *known):
            raise UnknownNameError("program type", program_type, tuple(dict.fromkeys((*TYPES, *known))))
    zone = load_config(ctx.obj).timezone
    kind = f" of type {program_type}" if program_type else ""
    has_others = program_type is not None and count_rows(opened.manifest, "programs") > 0
    following = "Next: `aix program list`" if has_others else "Next: `aix import FOLDER`, with a folder of them"
    empty = {"type"} if program_type is not None else set()
    empty |= {"missing"} if not any(row["dangling"] for row in rows) else set()
    columns = tuple(column for column in _COLUMNS if column.name not in empty)
    if program_type is not None:  # the names of one type are alike, and get the room of its column
        columns = tuple(replace(column, least=24) if column.name == "name" else column for column in columns)
    lines = [_cells(row, zone) for row in rows]
    return replace(
        found.listing(),
        empty=f"No programs{kind} in the ledger; docs/programs.md says where they come from. {following}",
        notes=["next: `aix program show ID` shows one program"] if rows and is_screen() else [],
        for_people=Listing(columns, [[cells[column.name] for column in columns] for cells in lines]),
    )


@command.command("show", cls=Command)
@click.argument("program", metavar="ID")
@click.option("--full", is_flag=True, help=f"Show all events; without it, the last {_EVENTS_SHOWN}.")
@ledger_option
@listing_output
@click.pass_context
def show_program(ctx: click.Context, program: str, full: bool, ledger: Path) -> Listing:
    """Show one program: its settings, the programs it names and that name it, its events and its cost.

    ID is the id of the program, also as `@(ID)`, or the beginning of one that no other program has. Settings are shown
    as they were imported, without credentials. `!` marks a reference that leads nowhere, and a change that the
    lifecycle of the type does not allow. All other formats have a row for each fact, with exact values.

    \b
      aix program show researcher
      aix program show task-survey --json
    """
    opened = open_ledger(ledger)
    program_id = _find(opened, program)
    [row] = _inventory(opened, "program_id", program_id).dicts()
    facts = list(_facts(opened, program_id, row))
    given = "json" if ctx.params["as_json"] else ctx.params["output_format"]
    if chosen_format(given, ctx.params["path"]) == "table" and not ctx.params["expanded"]:
        zone = load_config(ctx.obj).timezone
        emit_paragraphs(_paragraphs(row, facts, zone, is_full=full), ctx.params["path"])
        if is_screen():
            say(f"next: {_next_step(row)}")
        ctx.exit()
    return Listing(_DETAIL_COLUMNS, facts)


def _inventory(ledger: Ledger, column: str, value: str | None) -> "Result":
    """Return the rows of the inventory, or those with a value in a column."""
    from aix.query.packs import find_query

    inventory = find_query(_INVENTORY).sql
    sql = f"select * from (\n{inventory}\n) where $value is null or {column} = $value order by program_type, program_id"  # noqa: S608 - the column is one of ours
    return ledger.sql(sql, {"value": value})


def _cells(row: _Row, zone: tzinfo) -> dict[str, object]:
    """Return what people read of a program, by column."""
    return {
        "program": row["program_id"],
        "state": row["state"],
        "name": one_line(row["name"], _NAME_CHARACTERS) if row["name"] else None,
        "type": row["program_type"],
        "cost": bounded_dollars(row["cost_usd"], None, row["unpriced_requests"]),
        "last event": None if row["last_event_at"] is None else local_time(row["last_event_at"], zone),
        "missing": grouped(row["dangling"]),
        "refers to": grouped(row["references_out"]),
        "used by": grouped(row["references_in"]),
        "events": grouped(row["events"]),
    }


def _find(ledger: Ledger, name: str) -> str:
    """Return the id of a program by its id, as a reference with or without a version, or by its beginning."""
    wanted = name.strip()
    if wanted.startswith("@(") and wanted.endswith(")"):
        wanted = wanted[2:-1].strip()
    known = [program_id for (program_id,) in ledger.sql(_IDS)]
    for exact in (wanted, wanted.rpartition(":")[0]):
        if exact in known:
            return exact
    begun = [program_id for program_id in known if wanted and program_id.startswith(wanted)]
    if len(begun) > 1:
        raise AmbiguousNameError("program", name, tuple(begun))
    if not begun:
        raise UnknownProgramError(wanted, tuple(known))
    return str(begun[0])


def _facts(ledger: Ledger, program_id: str, row: _Row) -> Iterator[_Fact]:
    """Go through everything that is known about a program."""
    asked = {"id": program_id}
    events = ledger.sql(_EVENTS, asked).dicts()
    yield _Fact("program", "type", row["program_type"])
    yield _Fact("program", "state", row["state"])
    if states := [event["to_state"] for event in events if event["to_state"]]:
        yield _Fact("program", _LAST_STATE, states[-1])
    yield _Fact("program", "name", row["name"])
    [(config,)] = ledger.sql(_CONFIG, asked)
    settings = json.loads(config) if config else {}
    for name, value in sorted(settings.items()):
        yield _Fact("setting", name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    for field, target, target_type, is_resolved in ledger.sql(_REFERENCES, asked):
        yield _Fact("refers to", field, f"{target} ({target_type or ('session' if is_resolved else 'missing')})")
    for source, field, source_type in ledger.sql(_REFERRERS, asked):
        yield _Fact("used by", field, f"{source} ({source_type})")
    for event in events:
        yield _Fact("event", event["kind"], _event_text(event), event["occurred_at"])
    [(acts,)] = ledger.sql(_ACTS, asked)
    yield _Fact("cost", "events as principal", str(acts))
    yield _Fact("cost", "requests", str(row["requests"]))
    yield _Fact("cost", "unpriced_requests", str(row["unpriced_requests"]))
    yield _Fact("cost", "cost_usd", None if row["cost_usd"] is None else str(row["cost_usd"]))


def _event_text(event: Mapping[str, Any]) -> str | None:
    """Say what an event changed, why, who did it, and for whom."""
    parts = []
    if event["to_state"]:
        mark = " !" if event["is_allowed"] is False else ""
        before = f"{event['from_state']} " if event["from_state"] else ""
        parts.append(f"{before}→ {event['to_state']}{mark}")
    if event["reason"]:
        parts.append(event["reason"])
    if event["principal"]:
        chain = json.loads(event["on_behalf_of"]) if event["on_behalf_of"] else []
        parts.append(" for ".join(["by " + event["principal"], *chain]))
    return ", ".join(parts) or None


def _paragraphs(row: _Row, facts: Sequence[_Fact], zone: tzinfo, *, is_full: bool) -> Iterator[Paragraph]:
    name = f"  {one_line(row['name'], _NAME_CHARACTERS)}" if row["name"] else ""
    kind = ", ".join(filter(None, (row["program_type"], _state_text(row["state"], facts))))
    yield Paragraph(row["program_id"], style="bold", is_one_line=True, tail=f"{name}  {kind}")
    for part, title in (
        ("setting", "Settings"),
        ("refers to", "Refers to"),
        ("used by", "Used by"),
        ("event", "Events"),
    ):
        listed = [fact for fact in facts if fact.part == part]
        shown = listed if is_full or part != "event" else listed[-_EVENTS_SHOWN:]
        if shown:
            yield Paragraph()
            yield Paragraph(title, style="bold")
        if len(shown) < len(listed):
            yield Paragraph(f"{len(listed) - len(shown):,} earlier; --full shows all", style="dim", mark="  ")
        width = max((len(fact.name) for fact in shown), default=0)
        for fact in shown:
            when = f"{local_time(fact.at, zone)}  " if part == "event" else ""
            value = fact.value or ""
            is_missing = part == "refers to" and value.endswith("(missing)")
            yield Paragraph(
                f"{when}{fact.name:{width}}  {value}{' !' if is_missing else ''}", mark="  ", is_one_line=True
            )
    yield Paragraph()
    yield Paragraph(_cost_text(row, facts))


def _state_text(state: str | None, facts: Sequence[_Fact]) -> str | None:
    last = next((fact.value for fact in facts if fact.name == _LAST_STATE), state)
    return state if last == state else f"{state} (its settings; last event: {last})"


def _cost_text(row: _Row, facts: Sequence[_Fact]) -> str:
    cost: Decimal | None = row["cost_usd"]
    acts = next(int(fact.value or 0) for fact in facts if fact.name == "events as principal")
    acted = f"; principal of {counted(acts, 'event')}" if acts else ""
    if not row["requests"]:
        return f"No requests, so no cost{acted}"
    amount = bounded_dollars(cost, None, row["unpriced_requests"]) or "An unknown amount"
    unpriced = f", {row['unpriced_requests']:,} of them without a known price" if row["unpriced_requests"] else ""
    return f"{amount} for {counted(row['requests'], 'request')}{unpriced}{acted}"


def _next_step(row: _Row) -> str:
    program_type = row["program_type"]
    if row["dangling"]:
        return "`aix query programs/broken_references` lists what is missing"
    if row["requests"] and program_type in _COSTS_BY:
        return f"`aix cost --by {program_type}` compares it with others"
    if row["requests"] and program_type == "model":
        return "`aix query programs/parameters` shows its parameters in use"
    if program_type in ("agent", "human", "session"):
        return "`aix query programs/delegation` shows who acts for whom"
    return f"`aix program list --type {program_type}` lists others"
