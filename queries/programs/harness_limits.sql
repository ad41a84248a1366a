-- title: Limits of harnesses that were exceeded
-- question: Which agents made more turns than allowed?
-- why: A harness that does not stop its agent costs money without end.
-- grain: agent_id and session_label
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column agent_id: VARCHAR; the agent
-- column max_turns: BIGINT; turns that its harness allows
-- column turns: BIGINT; turns of the session; NULL where only the agent itself counts
-- column turn_count: BIGINT; turns that the agent counts itself, in its current or only session, else without a session
-- column was_stopped: BOOLEAN; whether an event says that the harness stopped it
-- column first_started_at: BIGINT; the first turn of the session, in Unix ms
-- column last_started_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session
-- shown: reason, status, severity, max_turns, turns, turn_count
-- empty: No harness has a limit.
-- next: `aix program show AGENT` shows one agent with its harness
-- caveat: A turn that several sessions share counts for the one that began first.
-- caveat: The limit is the one that the program had when it was last seen.
-- remedy: Look at the session, and let the harness stop the agent.
-- rows: only with programs

-- Agents whose harness has a limit.
with limited as (
  select
    id as agent_id, r.current_session_id,
    try_cast(json_extract_string(config_json, '$.harness.maxTurns') as bigint) as max_turns,
    try_cast(json_extract_string(config_json, '$.turnCount') as bigint) as turn_count
  from programs
  left join v_program_roles r on r.program_id = id
  where program_type = 'agent' and try_cast(json_extract_string(config_json, '$.harness.maxTurns') as bigint) is not null
),
-- Turns of each of their sessions.
session_turn as (
  select
    p.agent_id, p.session_label,
    max(s.session_id) as session_id,
    count(*) over (partition by p.agent_id) as sessions,
    count(*) as turns,
    min(t.started_at) as first_started_at,
    max(t.started_at) as last_started_at
  from v_turn_programs p
  join turns t on t.id = p.turn_id
  left join v_program_sessions s on s.session_label = p.session_label
  where p.agent_id is not null
  group by p.agent_id, p.session_label
),
-- Agents that their harness stopped.
stopped as (
  select agent_id from v_program_events where kind = 'AGENT_COMPLETED' and reason = 'max_turns_reached' group by agent_id
),
-- Limits with the count of the agent in the session that it is about, where that is known.
counted as (
  select
    l.agent_id, l.max_turns, s.session_label, s.turns, s.first_started_at, s.last_started_at,
    case
      when s.agent_id is null or s.sessions = 1 or s.session_id = l.current_session_id then l.turn_count
    end as turn_count
  from limited l
  left join session_turn s on s.agent_id = l.agent_id
),
-- Else without a session.
shown as (
  select * from counted
  union all
  select l.agent_id, l.max_turns, null, null, null, null, l.turn_count
  from limited l
  left join (select agent_id from counted where turn_count is not null group by agent_id) c on c.agent_id = l.agent_id
  where l.turn_count is not null and c.agent_id is null
),
-- The greater of the two counts.
compared as (
  select
    s.*, n.name,
    x.agent_id is not null as was_stopped,
    case
      when s.turns is null or s.turn_count > s.turns then s.turn_count
      else s.turns
    end as most
  from shown s
  left join stopped x on x.agent_id = s.agent_id
  left join v_program_names n on n.program_id = s.agent_id
)
select
  left(agent_id, 200) as resource,
  case when most > max_turns then 'alarm' when was_stopped then 'info' else 'ok' end as status,
  '`' || replace(name, '`', '''') || '` made ' || cast(coalesce(most, 0) as varchar) || case when most = 1 then ' turn' else ' turns' end
    || case
      when most > max_turns then ', but may make only ' || cast(max_turns as varchar)
      else ' of ' || cast(max_turns as varchar) || ' allowed'
        || case when was_stopped then '; its harness stopped it' else '' end
    end
    || '.' as reason,
  case when most > max_turns then 'medium' end as severity,
  agent_id, max_turns, turns, turn_count, was_stopped, first_started_at, last_started_at, session_label
from compared
order by case when most > max_turns then 0 when was_stopped then 1 else 2 end, agent_id, session_label
