-- title: Owners and mounts of resources at a time
-- question: Who owned and mounted each resource at a time?
-- why: Shows who could read and change a volume or a file when something happened to it.
-- grain: resource, relation and holder
-- param at: timestamp = none; the moment; else the latest that the graph knows
-- param resource: text = none; only this resource
-- column resource_id: VARCHAR; the resource
-- column resource_kind: VARCHAR; what it is, such as docker_volume
-- column resource_name: VARCHAR; its name
-- column relation: VARCHAR; owns, mounts, or scope for the agent or run that the resource itself names
-- column holder_kind: VARCHAR; what the owner or user is: Agent, Run or Container
-- column holder_id: VARCHAR; the owner or user
-- column mount: VARCHAR; where it is mounted
-- column mode: VARCHAR; ro or rw
-- column begun_at: BIGINT; since when, in Unix ms; NULL where the log does not say
-- column ended_at: BIGINT; until when; NULL where no end is known
-- column looked_at: BIGINT; the moment asked for, in Unix ms
-- shown: resource_id, relation, holder_id, mount, mode, holder_kind, begun_at, ended_at
-- empty: No resource had an owner or was mounted at that time.
-- next: --param at=2026-11-01T12:00:00Z looks at another moment; `aix query attachments_at` shows what was attached and alive
-- caveat: An edge without `valid_from` counts from the beginning, one without `valid_to` for ever.
-- rows: only with dag_edges, dag_events, dag_nodes
select
  h.resource_id, r.kind as resource_kind, r.name as resource_name, h.relation, h.holder_kind, h.holder_id,
  h.mount, h.mode, h.valid_from as begun_at, h.valid_to as ended_at, m.looked_at
from v_dag_holdings h
join v_dag_moment m
  on (h.valid_from is null or h.valid_from <= m.looked_at) and (h.valid_to is null or h.valid_to > m.looked_at)
left join v_dag_resources r
  on r.resource_id = h.resource_id
  and r.valid_from <= m.looked_at and (r.valid_to is null or r.valid_to > m.looked_at)
where h.relation in ('owns', 'mounts', 'scope')
  and (getvariable('resource') is null or h.resource_id = getvariable('resource'))
order by h.resource_id, h.relation, h.holder_kind nulls last, h.holder_id, h.mount nulls last, h.valid_from nulls first
