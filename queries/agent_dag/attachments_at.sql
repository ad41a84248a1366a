-- title: Attached and mounted resources at a time, and whether they lived
-- question: What was attached or mounted at a time, and alive?
-- why: A run that uses a dead container, or one that another run writes to, goes wrong.
-- grain: resource, relation and holder
-- param at: timestamp = none; the moment; else the latest that the graph knows
-- param resource: text = none; only this resource
-- column resource_id: VARCHAR; the resource
-- column resource_kind: VARCHAR; what it is, such as docker_container
-- column resource_name: VARCHAR; its name
-- column relation: VARCHAR; attached or mounted; NULL for a resource that was neither
-- column holder_kind: VARCHAR; what it was attached to or mounted by: Run, Agent or Container
-- column holder_id: VARCHAR; the run, agent or container
-- column mode: VARCHAR; ro or rw
-- column mount: VARCHAR; where it was mounted
-- column begun_at: BIGINT; since when, in Unix ms; NULL where the log does not say
-- column ended_at: BIGINT; until when; NULL where no end is known
-- column liveness: VARCHAR; unknown, alive or dead: the last probe before that moment, else as the resource says; NULL where neither does
-- column probed_at: BIGINT; when that probe was, in Unix ms; NULL where the resource says it
-- column is_imperative: BOOLEAN; whether the resource cannot be restored; NULL where the log does not say
-- column looked_at: BIGINT; the moment asked for, in Unix ms
-- shown: resource_id, relation, holder_id, mode, liveness, probed_at, is_imperative, mount
-- empty: The graph knew no resource at that time.
-- next: --param at=2026-11-01T12:00:00Z looks at another moment; `aix query resources_at` shows the owners
-- caveat: A probe is advice: a resource may have died right after it.
-- rows: only with dag_edges, dag_events, dag_nodes

-- The moment asked for.
with moment as (
  select looked_at from v_dag_moment
),
-- Resources as they were then.
resource as (
  select r.*
  from v_dag_resources r
  join moment m on r.valid_from <= m.looked_at and (r.valid_to is null or r.valid_to > m.looked_at)
),
-- What was attached or mounted then.
holding as (
  select
    h.resource_id, case h.relation when 'mounts' then 'mounted' else 'attached' end as relation, h.holder_kind, h.holder_id,
    h.mode, h.mount, h.valid_from, h.valid_to
  from v_dag_holdings h
  join moment m
    on (h.valid_from is null or h.valid_from <= m.looked_at) and (h.valid_to is null or h.valid_to > m.looked_at)
  where h.relation in ('attached', 'mounts')
),
-- Probes until then, the last one first.
probe as (
  select
    r.name as resource_id, e.occurred_at as probed_at, json_extract_string(e.payload_json, '$.status') as liveness,
    row_number() over (partition by r.name order by e.occurred_at desc, e.event_id) as place
  from v_dag_events e
  join v_dag_references r on r.event_id = e.event_id and r.field = 'resource_ref'
  join moment m on e.occurred_at <= m.looked_at
  where e.kind = 'resource_liveness_probe'
),
-- Resources that the graph knew then, by whatever names them.
known as (
  select resource_id from resource
  union select resource_id from holding
  union select resource_id from probe
)
select
  k.resource_id, r.kind as resource_kind, r.name as resource_name,
  h.relation, h.holder_kind, h.holder_id, h.mode, h.mount, h.valid_from as begun_at, h.valid_to as ended_at,
  coalesce(p.liveness, r.liveness) as liveness, p.probed_at, r.is_imperative, m.looked_at
from known k
cross join moment m
left join resource r on r.resource_id = k.resource_id
left join holding h on h.resource_id = k.resource_id
left join probe p on p.resource_id = k.resource_id and p.place = 1
where getvariable('resource') is null or k.resource_id = getvariable('resource')
order by k.resource_id, h.relation nulls last, h.holder_kind nulls last, h.holder_id, h.mount nulls last, h.valid_from nulls first
