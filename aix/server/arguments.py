"""The arguments of each tool, with the bounds and meanings that agents read in its schema."""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from aix.reading.costs import BY
from aix.reading.search import ORDERS as SESSION_ORDERS
from aix.search.search import DEFAULT_LIMIT, ORDERS
from aix.search.texts import KINDS, KINDS_OF_ROLES

MOST_ROWS = 500
_MOST_TURNS = 200
_LARGEST = 2**31

if TYPE_CHECKING:
    Kind = str
    Role = str
    SearchOrder = str
    SessionOrder = str
else:
    Kind = Literal[tuple(map(str, KINDS))]
    Role = Literal[tuple(KINDS_OF_ROLES)]
    SearchOrder = Literal[ORDERS]
    SessionOrder = Literal[tuple(SESSION_ORDERS)]

Offset = Annotated[
    int, Meta(ge=0, le=_LARGEST, description="How many rows to leave out; an answer says which is next.")
]
Limit = Annotated[int, Meta(ge=1, le=MOST_ROWS, description="At most so many rows.")]
_DATES = "2026-11-01, 2026-11, today, yesterday, monday, 7d, or 2026-11-01T10:00:00"
Since = Annotated[str, Meta(description=f"From this date on: {_DATES}.")]
Until = Annotated[str, Meta(description="Up to this date; a day or month is included.")]
Project = Annotated[str, Meta(description="Only projects with this text in their name or path.")]
Session = Annotated[str, Meta(description="Only this session: its label, an alias, or the unique beginning of either.")]
Origin = Annotated[str, Meta(description="Only what came from the tool of this name, as `sessions` shows it.")]
Model = Annotated[str, Meta(description="Only models with this text in their name.")]
Tag = Annotated[str, Meta(description="Only what carries this tag.")]
SessionOrTurn = Annotated[
    str,
    Meta(min_length=1, description="A session (label, alias or beginning) or a turn (id, or 4 or more characters)."),
]


class Arguments(Struct, kw_only=True, forbid_unknown_fields=True):
    """Arguments of a tool, by name."""


class SearchArguments(Arguments):
    """Arguments of `search`."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            description='Words that one text has, all of them; "a phrase" in quotes, deploy* for beginnings, OR, NOT.',
        ),
    ]
    kind: Annotated[Kind, Meta(description="Only texts of this kind.")] | None = None
    role: Annotated[Role, Meta(description="Only texts that this role wrote.")] | None = None
    tool: Annotated[str, Meta(description="Only inputs and results of the tool of this name.")] | None = None
    failed: Annotated[bool, Meta(description="Only calls of tools that failed.")] = False
    project: Project | None = None
    session: Session | None = None
    origin: Origin | None = None
    model: Model | None = None
    tag: Tag | None = None
    since: Since | None = None
    until: Until | None = None
    sort: SearchOrder = "best"
    limit: Limit = DEFAULT_LIMIT
    offset: Offset = 0


class SessionsArguments(Arguments):
    """Arguments of `sessions`."""

    text: Annotated[str, Meta(description="Only sessions with this text in label, title or first prompt.")] | None = (
        None
    )
    project: Project | None = None
    origin: Origin | None = None
    model: Model | None = None
    tag: Tag | None = None
    since: Since | None = None
    until: Until | None = None
    subagents: Annotated[bool, Meta(description="true: only subagents; false: none. Default: both.")] | None = None
    sort: SessionOrder = "updated"
    limit: Limit = 20
    offset: Offset = 0


class ShowArguments(Arguments):
    """Arguments of `show`."""

    name: SessionOrTurn
    first_turn: Annotated[int, Meta(ge=1, le=_LARGEST, description="The number of the first turn that is shown.")] = 1
    turns: Annotated[int, Meta(ge=1, le=_MOST_TURNS, description="At most so many turns.")] = 20
    last: Annotated[int, Meta(ge=1, le=_MOST_TURNS, description="The last so many turns instead.")] | None = None
    line: Annotated[
        int, Meta(ge=0, le=_LARGEST, description="How many lines of the first turn to leave out, to read on in it.")
    ] = 0
    find: Annotated[str, Meta(description="Only messages and calls that have this, as for `search`.")] | None = None
    full: Annotated[bool, Meta(description="Long texts whole, and parameters of calls; else folded.")] = False
    thinking: Annotated[bool, Meta(description="With what the model thought.")] = True
    tools: Annotated[bool, Meta(description="With calls of tools and their results.")] = True


class ContextArguments(Arguments):
    """Arguments of `context`."""

    name: SessionOrTurn
    limit: Limit = 100
    offset: Offset = 0


class CostArguments(Arguments):
    """Arguments of `cost`."""

    by: Annotated[
        str, Meta(description=f"Meaning of a row: {', '.join(BY)}; or two of them with a comma, such as day,model.")
    ] = "model"
    project: Project | None = None
    session: Session | None = None
    origin: Origin | None = None
    model: Model | None = None
    tag: Tag | None = None
    since: Since | None = None
    until: Until | None = None
    limit: Limit = 50
    offset: Offset = 0


class SqlArguments(Arguments):
    """Arguments of `sql`."""

    query: Annotated[str, Meta(min_length=1, description="One SELECT in DuckDB's SQL, not the EXPLAIN of one.")]
    limit: Limit = 100
    offset: Offset = 0


class SchemaArguments(Arguments):
    """Arguments of `schema`."""

    table: Annotated[str, Meta(description="A table or view. Default: the list of all.")] | None = None
