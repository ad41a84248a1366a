"""The events, nodes and edges of graphs that go with forgotten sessions.

A session can be a run of a graph: its label then names the agent and the run, or it is the name of the run. The events
of the run go, and each node that only they lead to. A node that an event of another run reaches stays; so does what an
edge from outside the ledger leads to. Links are followed from what names to what is named; around the events that go,
also the other way, for a summary names the messages that it is made of, and nothing need name the summary.
"""

from typing import TYPE_CHECKING

from aix.query.views import library_views, with_foundations
from aix.schema.sql import quote_name, quote_text

if TYPE_CHECKING:
    import duckdb

TABLES_OF_GRAPHS = ("dag_events", "dag_nodes", "dag_edges")
_MEMORY_LIMIT = "400MB"
"""The edges of a large graph need more than a commit otherwise takes; a commit may take 500 MiB."""
_VIEWS = ("v_dag_edges", "v_dag_events", "v_dag_fork_plans", "v_dag_names", "v_dag_nodes", "v_dag_references")


def _key(kind: str, name: str) -> str:
    """Return SQL for a node as one text. A subagent is an agent, a container a resource, a node may be an event."""
    kinds = f"case {kind} when 'Subagent' then 'Agent' when 'Container' then 'Resource' else coalesce({kind}, '') end"
    return f"case when {name} in (select event_id from dag_events) then 'Event' else {kinds} end || '/' || {name}"


def _reference(field: str) -> str:
    of_payload = f"json_extract_string(payload_json, '$.{field}"
    return f"coalesce({of_payload}.event_id'), {of_payload}.id'), {of_payload}'))"


_RUNS = """
    create temp table graph_event as
    with session as (
      select
        label, origin_session_id, regexp_replace(label, '^[^:]*:', '') as name,
        label in (select key from gone where name = 'sessions.label') as is_gone
      from sessions
    ),
    of_run as (
      select e.agent_id, e.run_id, bool_or(s.is_gone) and (e.agent_id is not null or bool_and(s.is_gone)) as is_gone
      from (select distinct agent_id, run_id from v_dag_events where run_id is not null) e
      join session s
        on s.label = e.run_id
        or (
          s.origin_session_id = e.run_id
          and case
            when e.agent_id is null then ends_with(s.name, '/' || e.run_id)
            else s.name = replace(replace(e.agent_id, '%', '%25'), '/', '%2F') || '/' || e.run_id
          end
        )
      group by e.agent_id, e.run_id
    )
    select e.event_id, e.agent_id, e.run_id, coalesce(r.is_gone, false) as is_gone
    from v_dag_events e
    left join of_run r on r.agent_id is not distinct from e.agent_id and r.run_id = e.run_id
"""
"""The events, and whether the run of each goes. Without an agent, a run is that of all sessions of its name."""

_NAMED = f"""
    select event_id, 'Message' as kind, unnest([
      {", ".join(_reference(field) for field in ("message_ref", "output_ref", "reasoning_ref"))}
    ]) as name
    from dag_events
    union all
    select
      event_id,
      case
        when ends_with(field, 'resource_ref') then 'Resource'
        when field = 'snapshot_ref' then 'Snapshot'
        when field = 'policy_ref' then 'Policy'
        else 'Event'
      end,
      name
    from v_dag_references
    where field not in ('input_refs', 'message_ref', 'output_ref', 'reasoning_ref')
    union all
    select event_id, 'Resource', resource_id from v_dag_fork_plans
    union all
    select event_id, 'Agent', agent_id from graph_event
    union all
    select event_id, 'Run', run_id from graph_event
    union all
    select e.event_id, n.kind, n.node_id
    from dag_events e
    join dag_nodes n
      on n.kind in ('ToolCall', 'ToolResult')
      and json_extract_string(e.payload_json, '$.call_id')
        in (n.node_id, json_extract_string(n.payload_json, '$.call_id'))
    where e.kind in ('tool_call', 'tool_result')
"""
"""Names in events. Input of requests, and whatever follows from several rows, is an edge of the view."""

_LINKS = f"""
    create temp table graph_edge as
    select
      type, src, dst, is_stated, is_src_known,
      {_key("src_kind", "src")} as src_key, {_key("dst_kind", "dst")} as dst_key
    from v_dag_edges
    where is_stated or type <> 'APPENDED_TO_HISTORY';
    create temp table graph_link as
    select src_key as src, dst_key as dst from graph_edge
    union
    select 'Event/' || e.event_id, {_key("e.kind", "coalesce(n.id, e.name)")}
    from ({_NAMED}) e
    left join v_dag_names n on n.kind = e.kind and n.name = e.name
    where e.name is not null
"""

_GONE = """
    create temp table gone_root as
    select 'Event/' || event_id as key from graph_event where is_gone
    union
    select 'Run/' || run_id from graph_event where run_id is not null group by run_id having bool_and(is_gone);
    create temp table kept_root as
    select 'Event/' || event_id as key from graph_event where not is_gone
    union
    select 'Run/' || run_id from graph_event where run_id is not null group by run_id having not bool_and(is_gone);
"""

_FROM_OUTSIDE = """
    insert into kept_root
    select distinct src_key from graph_edge
    where is_stated and not is_src_known and src_key not in (select key from named_by_gone)
"""

_AROUND = """
    create temp table graph_barrier as
    select key from kept
    union
    select key
    from (select src as key from graph_link union select dst from graph_link) x
    where starts_with(key, 'Run/') and key not in (select key from gone_root)
      or starts_with(key, 'Agent/')
      and key not in (select 'Agent/' || agent_id from graph_event where is_gone and agent_id is not null)
      and key not in (select 'Agent/' || node_id from dag_nodes where kind = 'Subagent')
"""
"""Nodes and events at which the search stops: those that stay, and agents and runs that only share a resource."""

_EDGES = """
    create temp table gone_edge as
    with named as (
      select name, id from v_dag_names
      union
      select src, src from dag_edges
      union
      select dst, dst from dag_edges
    )
    select distinct e.id
    from dag_edges e
    join named s on s.name = e.src
    join named d on d.name = e.dst
    join graph_edge g on g.type = e.type and g.src = s.id and g.dst = d.id
    where g.is_stated
      and (g.src_key in (select key from gone_key) or g.dst_key in (select key from gone_key))
"""

_IMPLIED_NODES = f"""
    insert into gone
    select 'dag_nodes.node_id', kind || '/' || node_id
    from v_dag_nodes
    where not is_stated and {_key("kind", "node_id")} in (select key from gone_key)
"""
"""They have no row, and may have tags."""


def conditions_of_gone_graphs(connection: "duckdb.DuckDBPyConnection") -> dict[str, str]:
    """Return SQL that says, by table, which rows of graphs go with the sessions in the table `gone`.

    A ledger in which no run goes needs none.
    """
    if not connection.execute("select count(*) from dag_events").fetchall()[0][0]:
        return {}
    [(database, path)] = connection.execute("select current_database(), current_setting('search_path')").fetchall()
    connection.execute(f"create schema graphs; set search_path = '{database}.graphs,{database}.main'")
    try:
        return _conditions(connection)
    finally:
        connection.execute(f"set search_path = {quote_text(path)}")


def _conditions(connection: "duckdb.DuckDBPyConnection") -> dict[str, str]:
    connection.execute(f"set memory_limit = '{_MEMORY_LIMIT}'")
    for table in TABLES_OF_GRAPHS:  # whatever a payload holds must not keep a session from being forgotten
        payload = "case when json_valid(payload_json) then payload_json else '{}' end as payload_json"
        connection.execute(f"create table {table} as select * replace ({payload}) from main.{table}")
    for view in with_foundations(_VIEWS, library_views()):  # as tables: DuckDB would plan a view again for each use
        connection.execute(f"create table {quote_name(view.name)} as {view.statement}")
    connection.execute(_RUNS)
    if not connection.execute("select count(*) from graph_event where is_gone").fetchall()[0][0]:
        return {}
    connection.execute(_LINKS)
    connection.execute(_GONE)
    forth = "select src, dst from graph_link"
    _reach(connection, "named_by_gone", "gone_root", forth, "kept_root")
    connection.execute(_FROM_OUTSIDE)
    _reach(connection, "kept", "kept_root", forth, "gone_root")
    connection.execute(_AROUND)
    both_ways = f"{forth} union select dst, src from graph_link"
    _reach(connection, "gone_key", "gone_root", both_ways, "graph_barrier")
    connection.execute(_EDGES)
    connection.execute(_IMPLIED_NODES)
    return {
        "dag_events": "event_id in (select event_id from graph_event where is_gone)",
        "dag_nodes": f"{_key('kind', 'node_id')} in (select key from gone_key)",
        "dag_edges": "id in (select id from gone_edge)",
    }


def _reach(connection: "duckdb.DuckDBPyConnection", table: str, roots: str, links: str, barrier: str) -> None:
    """Fill a table with the keys that links lead to from these roots, without those of a barrier."""
    connection.execute(f"""
        create temp table open_link as
        select src, dst from ({links}) where dst not in (select key from {barrier})
    """)
    connection.execute(f"""
        create temp table {table} as
        with recursive reached as (
          select key from {roots}
          union
          select l.dst from reached r join open_link l on l.src = r.key
        )
        select key from reached
    """)
    connection.execute("drop table open_link")
