-- title: Turns and the programs they belong to
-- question: Which session, agent, task, human and situation does a turn belong to?
-- why: The work that people asked for, and those who did it, are sums over these rows.
-- grain: turn
-- column turn_id: VARCHAR; the turn
-- column session_label: VARCHAR; the session it counts for: its owner
-- column session_program_id: VARCHAR; the program of that session
-- column agent_id: VARCHAR; the agent that owns the session
-- column task_id: VARCHAR; the task that the agent had when the turn began
-- column human_id: VARCHAR; the human it was for: as the turn itself says, else by onBehalfOf and owner, else who assigned the task
-- column default_model_id: VARCHAR; the model program that its session uses by default
-- column situation: VARCHAR; the situation in force
-- caveat: The task is the one that the session names, else the last that events assigned to its agent before the turn; where no event does, the one that the agent or the id of the session names, else the only task of the agent.

-- Turns with the session that owns them, and what its program and agent name.
with placed_turn as (
  select
    t.id as turn_id, t.started_at, o.session_label, c.situation,
    s.session_id, s.session_program_id, s.owner_id, s.agent_id, s.human_id, s.default_model_id,
    s.session_task_id, s.named_task_id
  from turns t
  left join turn_context c on c.turn_id = t.id
  left join v_turn_owner o on o.turn_id = t.id
  left join v_program_sessions s on s.session_label = o.session_label
),
-- Assignments that were in force when a turn began: one for its session comes first, then the last one.
assigned as (
  select
    t.turn_id, a.task_id, a.human_id,
    row_number() over (
      partition by t.turn_id order by case when a.session_id is null then 1 else 0 end, a.event_order desc
    ) as place
  from placed_turn t
  join v_program_assignments a
    on a.agent_id = t.owner_id
    and t.started_at >= a.assigned_at and (a.ended_at is null or t.started_at < a.ended_at)
    and (a.session_id is null or a.session_id = t.session_id)
),
-- Turns with the principal and the chain that they state.
acting as (
  select
    c.turn_id, c.principal, c.on_behalf_of,
    cast(json_extract(t.permissions_granted, '$.principal') as varchar) as stated_json
  from turn_context c
  join turns t on t.id = c.turn_id
  where coalesce(c.principal, c.on_behalf_of) is not null
),
-- Places in these chains, the principal at 0.
chain_place as (
  select
    turn_id, principal, on_behalf_of, stated_json,
    unnest(generate_series(
      0,
      coalesce(
        cast(json_array_length(json_extract(stated_json, '$.chain')) as bigint),
        case when on_behalf_of is null then 0 else 1 end
      )
    )) as place
  from acting
),
-- The program at each place, and the type that the turn states for it.
chain_link as (
  select
    turn_id, place, on_behalf_of,
    case
      when place = 0 then principal
      else coalesce(json_extract_string(stated_json, '$.chain[' || (place - 1) || ']'), on_behalf_of)
    end as program_id,
    case
      when place = 0 then json_extract_string(stated_json, '$.type')
      else json_extract_string(stated_json, '$.chain_types[' || (place - 1) || ']')
    end as stated_type
  from chain_place
),
-- The first human of what a turn states; where it states only agents, the one that the last of them leads to.
stated_human as (
  select
    l.turn_id,
    min_by(
      case when coalesce(p.program_type, l.stated_type) = 'human' then l.program_id else h.human_id end,
      case when coalesce(p.program_type, l.stated_type) = 'human' then l.place else 1000000 - l.place end
    ) as human_id
  from chain_link l
  left join programs p on p.id = l.program_id
  left join v_chain_humans h on h.principal = l.program_id and h.on_behalf_of is null
  where coalesce(p.program_type, l.stated_type) = 'human' or (l.on_behalf_of is not null and h.human_id is not null)
  group by l.turn_id
)
select
  t.turn_id, t.session_label, t.session_program_id, t.agent_id,
  coalesce(t.session_task_id, a.task_id, t.named_task_id) as task_id,
  coalesce(h.human_id, t.human_id, a.human_id) as human_id,
  t.default_model_id,
  t.situation
from placed_turn t
left join assigned a on a.turn_id = t.turn_id and a.place = 1
left join stated_human h on h.turn_id = t.turn_id
