"""Problems of a graph as a whole: repeated places in a run, edges to nowhere, cycles, results and calls that differ.

Nothing is lost for them: every record stays in the ledger as it came.
"""

from array import array
from collections.abc import Iterator

from aix.importing import Problem
from aix_importers.agent_dag.cycles import find_cycles
from aix_importers.agent_dag.graph import Graph
from aix_importers.agent_dag.records import ref_id
from aix_importers.common.agent_dag_words import EDGE_TYPES, EVENT, EVENTS_BEHIND_NODES, NODE_TYPES, NODES_LIKE

_MOST_NAMES = 5
_SAMPLE = "substr({0}.payload, 1, 500), {0}.source, {0}.line, {0}.byte_offset"
_CONFLICTING_NODES = f"""
select node.kind, node.id, node.valid_from, {_SAMPLE.format("node")} from node join node as earlier
on earlier.kind = node.kind and earlier.id = node.id and earlier.is_first
and coalesce(earlier.valid_from, 0) = coalesce(node.valid_from, 0)
where not node.is_first and node.payload <> earlier.payload and not (node.is_projected and earlier.is_projected)
order by node.n
"""
_LOST_CLAIMS = f"""
select event.claimed, earlier.claimed, {_SAMPLE.format("event")} from event join event as earlier
on earlier.id = event.id and earlier.is_first
where not event.is_first and event.claimed <> earlier.claimed order by event.n
"""
_REPEATED_SEQ = f"""
select seq, in_run, {_SAMPLE.format("event")} from event where n in (
  select n from (
    select n, row_number() over (partition by run_agent, in_run, seq order by n) as place from event
    where seq is not null and in_run is not null and is_first
  ) where place > 1
) order by n
"""
_SEVERAL_SEQ = f"""
select src_id, dst_id, {_SAMPLE.format("edge")} from edge where n in (
  select n from (
    select n, dense_rank() over (partition by src_id, dst_id order by seq) as place from edge
    where type = 'RUN_HAS_EVENT' and seq is not null and is_first and valid_to is null
  ) where place > 1
) order by n
"""
_SUBSTITUTED = """
create table substituted as
select coalesce((select id from event where id = one.refers_to),
  (select min(id) from event where alias = one.refers_to)) as id
from event as one where kind = 'substitution' union select dst_id from edge where type = 'SUBSTITUTES'
"""
_RESULTS_WITHOUT_CALL = f"""
select call, {_SAMPLE.format("event")} from event where kind = 'tool_result' and is_first
and not exists (
  select 1 from event as made where made.call = event.call and made.kind = 'tool_call' and made.in_run is event.in_run
)
and not exists (select 1 from node where node.id = event.call and node.kind = 'ToolCall') order by n
"""
_SEVERAL_RESULTS = f"""
select call, {_SAMPLE.format("event")} from event where n in (
  select n from (
    select n, row_number() over (partition by call, in_run, run_agent order by n) as place from event
    where kind = 'tool_result' and call is not null and is_first and id not in (select id from substituted)
  ) where place > 1
)
and not exists (
  select 1 from event as made where made.call = event.call and made.kind = 'tool_call' and made.in_run is event.in_run
  and made.id in (select id from substituted)
) order by n
"""
_SEVERAL_RESULT_EDGES = f"""
select src, {_SAMPLE.format("edge")} from edge where n in (
  select n from (
    select n, dense_rank() over (partition by src_id order by dst_id) as place from edge
    where type = 'RETURNS_RESULT' and is_first and valid_to is null and dst_id not in (select id from substituted)
  ) where place > 1
) order by n
"""
_DERIVED = """
select n, coalesce(src_kind, '') || char(31) || src_id, coalesce(dst_kind, '') || char(31) || dst_id from edge
where type = 'DERIVED_FROM' and is_first
"""
_PARENTS = """
select n, id, coalesce((select id from event where id = one.refers_to),
  (select min(id) from event where alias = one.refers_to), one.refers_to)
from event as one where kind <> 'substitution' and refers_to is not null and is_first
"""
_ANCESTRY = """
select n, src_id, coalesce((select run_agent from event where id = dst_id),
  (select agent from run where run = dst_id), dst_id) from edge
where type in ('FORKED_FROM', 'SPAWNED_FROM') and is_first
"""
_SUBAGENTS = "select n, id, parent from node where kind = 'Subagent' and parent is not null and is_first"
_BRANCHES = """
select n, coalesce(agent, '') || char(31) || name, coalesce(agent, '') || char(31) || origin from branch
where origin is not null
"""


def problems_of(graph: Graph) -> Iterator[Problem]:
    """Go through the problems of a graph that is indexed."""
    for kind, node_id, valid_from, *where in graph.rows(_CONFLICTING_NODES):
        when, advice = (
            ("time", "give each version of a node its valid_from")
            if valid_from is None
            else ("millisecond", "give versions of a node a valid_from that differs by at least one millisecond")
        )
        reason = (
            f"Another record says something else about the {kind} {node_id} for the same {when}, and the fuller one was"
            f" kept: {advice}."
        )
        yield _problem(graph, "conflicting_node", reason, where)
    for claimed, other, *where in graph.rows(_LOST_CLAIMS):
        reason = (
            f"Other lines give this event the id {other}, and one of the ids is kept: in the ledger, edges to the other"
            f" one lead nowhere. This line says {claimed}."
        )
        yield _problem(graph, "several_event_ids", reason, where)
    for seq, run, *where in graph.rows(_REPEATED_SEQ):
        reason = f"The run {run} has several events with seq {seq}; their times decide which is first."
        yield _problem(graph, "duplicate_seq", reason, where)
    for run, event, *where in graph.rows(_SEVERAL_SEQ):
        reason = f"The run {run} gives the event {event} several numbers; the lowest counts."
        yield _problem(graph, "duplicate_seq", reason, where)
    _gather_branches(graph)
    yield from _loose_edges(graph)
    yield from _problems_of_results(graph)
    yield from _cycles(graph, "DERIVED_FROM edges", "edge", _DERIVED)
    yield from _cycles(graph, "parents of events", "event", _PARENTS)
    yield from _cycles(graph, "FORKED_FROM and SPAWNED_FROM edges", "edge", _ANCESTRY)
    yield from _cycles(graph, "parents of subagents", "node", _SUBAGENTS)
    yield from _cycles(graph, "forks of branches", "event", _BRANCHES)


def _gather_branches(graph: Graph) -> None:
    """Make a table of the branches that forks name, each with the branch that it was forked from."""
    graph.rows("create table branch (n integer, agent text, name text, origin text)")
    for event in graph.events("agent_forked"):
        payload = event.payload
        branches = ref_id(payload.get("to_branch")), ref_id(payload.get("from_branch"))
        [n] = graph.row("select n from event where id = ? and is_first", event.id)
        for name, origin in (branches, (branches[1], None)):
            if name:
                graph.rows("insert into branch values (?, ?, ?, ?)", n, event.agent_id, name, origin)


def _problems_of_results(graph: Graph) -> Iterator[Problem]:
    graph.rows(_SUBSTITUTED)
    graph.rows("create index substituted_id on substituted (id)")
    for call, *where in graph.rows(_RESULTS_WITHOUT_CALL):
        what = f"the call {call}, which no tool_call of its run makes" if call else "no call"
        yield _problem(graph, "result_without_call", f"The result is of {what}.", where)
    for sql in (_SEVERAL_RESULTS, _SEVERAL_RESULT_EDGES):
        for call, *where in graph.rows(sql):
            reason = f"The call {call} has another result already, and no substitution says which counts."
            yield _problem(graph, "several_results", reason, where)


def _loose_edges(graph: Graph) -> Iterator[Problem]:
    """Go through the ends of edges that no record is behind."""
    for (edge_type,) in graph.rows("select distinct type from edge order by type"):
        ends = EDGE_TYPES.get(edge_type)
        for end in ("src", "dst"):
            allowed = sorted(getattr(ends, end)) if ends else []
            like = {like for kind in allowed for like in NODES_LIKE.get(kind, ())}
            kinds = sorted({*allowed, *like}) or [EVENT, *sorted(NODE_TYPES)]
            found = " or ".join(
                f"(coalesce({end}_kind, '{kind}') = '{kind}' and {_exists(kind, end)})" for kind in kinds
            )
            if not allowed:  # every kind is, one that AIX does not know too
                found = f"{found} or exists (select 1 from node where node.id = edge.{end}_id)"
            sql = (
                f"select {end}, {end}_kind, {_exists_at_all(end)}, {_SAMPLE.format('edge')} from edge"
                f" where type = ? and is_first and not ({found}) order by n"
            )
            for name, stated, is_there, *where in graph.rows(sql, edge_type):
                wanted = stated if stated in kinds else " or ".join(allowed) or "event or node"
                if is_there:
                    reason = f"The {end} of the edge {edge_type} must be of the kind {wanted}, and {name} is not."
                    yield _problem(graph, "wrong_edge_end", reason, where)
                else:
                    reason = f"The {end} of the edge {edge_type} is {name}, and no {wanted} of that id was read."
                    yield _problem(graph, "edge_to_nowhere", reason, where)


def _exists(kind: str, end: str) -> str:
    """Return the SQL that says whether an end of an edge is an event, or a node that a record states or implies."""
    point = f"edge.{end}_id"
    if kind == EVENT:
        return f"exists (select 1 from event where event.id = {point})"
    types = ", ".join(f"'{each}'" for each in (kind, *NODES_LIKE.get(kind, ())))
    found = [f"exists (select 1 from node where node.id = {point} and node.kind in ({types}))"]
    if kind in ("Agent", "Subagent"):
        found.append(f"exists (select 1 from event where event.run_agent = {point})")
    elif kind == "Run":
        found.append(f"exists (select 1 from event where event.in_run = {point})")
    elif kind == "Branch":
        found.append(f"{point} in (select name from branch union all select agent || '#' || name from branch)")
    if event_kind := EVENTS_BEHIND_NODES.get(kind):
        found.extend(
            f"exists (select 1 from event where event.{column} = {point} and event.kind = '{event_kind}')"
            for column in ("id", "alias", "call")
        )
    return f"({' or '.join(found)})"


def _exists_at_all(end: str) -> str:
    point = f"edge.{end}_id"
    return (
        f"exists (select 1 from event where event.id = {point}) or exists (select 1 from node where node.id = {point})"
        f" or exists (select 1 from event where event.run_agent = {point})"
        f" or exists (select 1 from event where event.in_run = {point})"
    )


def _cycles(graph: Graph, what: str, table: str, links: str) -> Iterator[Problem]:
    graph.rows("drop table if exists link")
    graph.rows("drop table if exists point")
    graph.rows("create table link (n integer, src text, dst text)")
    graph.rows(f"insert into link {links}")
    graph.rows("create table point (number integer primary key, name text unique)")
    graph.rows("insert or ignore into point (name) select src from link union all select dst from link")
    numbers, sources, targets = array("q"), array("q"), array("q")
    joined = "select n, a.number - 1, b.number - 1 from link join point a on a.name = src join point b on b.name = dst"
    for n, source, target in graph.rows(joined):
        numbers.append(n)
        sources.append(source)
        targets.append(target)
    [count] = graph.row("select count(*) from point")
    for cycle in find_cycles(count, sources, targets):
        names = [graph.row("select name from point where number = ?", sources[edge] + 1)[0] for edge in cycle]
        shown = [name.rpartition("\x1f")[2] for name in names[:_MOST_NAMES]]
        path = " → ".join([*shown, *(["…"] if len(names) > _MOST_NAMES else []), shown[0]])
        last = max(numbers[edge] for edge in cycle)
        [where] = graph.rows(f"select {_SAMPLE.format(table)} from {table} where n = ?", last)
        yield _problem(graph, "cycle", f"The {what} form a cycle: {path}.", where)


def _problem(graph: Graph, kind: str, reason: str, where: list[object] | tuple[object, ...]) -> Problem:
    sample, *place = where
    return graph.place(*place).problem(kind, reason, str(sample))  # type: ignore[arg-type]
