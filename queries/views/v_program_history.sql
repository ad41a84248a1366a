-- title: Changes of programs
-- question: From which state to which did each event lead, and does the lifecycle allow it?
-- why: The state before an event is that of the event before it, unless the event itself states it.
-- grain: event
-- column event_id: VARCHAR; the event
-- column program_id: VARCHAR; the program
-- column program_type: VARCHAR; its type
-- column occurred_at: BIGINT; when it happened, in Unix ms
-- column event_order: VARCHAR; by which the events of all programs are in the order in which they happened
-- column kind: VARCHAR; what happened
-- column from_state: VARCHAR; the state before
-- column to_state: VARCHAR; the state after; NULL where nothing changes
-- column is_allowed: BOOLEAN; whether the lifecycle of the type allows the change; NULL where the type has no lifecycle, or the state before is not known
-- column is_known_state: BOOLEAN; whether the type has the state after; NULL where nothing changes
-- column principal: VARCHAR; who acted
-- column on_behalf_of: VARCHAR; for whom, as a JSON array
-- column reason: VARCHAR; the reason that it states
-- caveat: Where events at the same time lead to different states, their order is not known: they give no state before.
-- caveat: A program that is created again is in a new life: that is allowed.
-- rows: only with program_events

-- Events in groups: each begins with one that says the state after.
with numbered as (
  select
    *,
    count(to_state) over (
      partition by program_id order by event_order rows between unbounded preceding and 1 preceding
    ) as states_before,
    min(to_state) over (partition by program_id, occurred_at)
      <> max(to_state) over (partition by program_id, occurred_at) as is_tied
  from v_program_events
),
last_state as (
  select program_id, states_before + 1 as number, case when not is_tied then to_state end as to_state
  from numbered
  where to_state is not null
),
changed as (
  select n.*, coalesce(n.stated_from_state, case when n.is_tied then null else s.to_state end) as from_state
  from numbered n
  left join last_state s on s.program_id = n.program_id and s.number = n.states_before
),
type_state as (
  select program_type, to_state as state from v_program_lifecycles group by program_type, to_state
)
select
  c.event_id, c.program_id, c.program_type, c.occurred_at, c.event_order, c.kind, c.from_state, c.to_state,
  case
    when c.to_state is null or c.program_type is null then null
    when ends_with(c.kind, '_CREATED') then true
    when c.from_state is null then null
    else c.from_state = c.to_state or l.to_state is not null
  end as is_allowed,
  case when c.to_state is not null and c.program_type is not null then t.state is not null end as is_known_state,
  c.principal, c.on_behalf_of, c.reason
from changed c
left join v_program_lifecycles l
  on l.program_type = c.program_type and l.from_state = c.from_state and l.to_state = c.to_state
left join type_state t on t.program_type = c.program_type and t.state = c.to_state
