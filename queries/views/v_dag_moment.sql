-- title: The moment at which an agent graph is looked at
-- question: At which moment is the graph shown?
-- why: Queries about owners, mounts and attachments show one moment, and the same one without a parameter.
-- grain: one row; none without a graph
-- param at: timestamp = none; the moment; else the latest that the graph knows
-- column looked_at: BIGINT; the moment, in Unix ms; NULL in a graph without times
-- rows: only with dag_edges, dag_events, dag_nodes
select coalesce(getvariable('at'), max(known_at)) as looked_at
from (
  select occurred_at as known_at from dag_events
  union all select valid_from from dag_edges
  union all select valid_from from dag_nodes
) time_known
having count(*) > 0
