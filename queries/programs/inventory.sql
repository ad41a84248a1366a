-- title: Programs
-- question: Which programs are there, and what did they cost?
-- why: Shows what a system of agents is made of, and which parts of it are used.
-- grain: program
-- params: filters
-- column program_id: VARCHAR; the program, as `@(id)` names it
-- column program_type: VARCHAR; what kind of program it is
-- column state: VARCHAR; how far it came in its lifecycle, or the state it is in; where it states none, that of its last event
-- column name: VARCHAR; its name or title
-- column references_out: BIGINT; programs that its settings refer to
-- column references_in: BIGINT; programs that refer to it
-- column dangling: BIGINT; of its references, those that lead nowhere
-- column events: BIGINT; events that happened to it
-- column last_event_at: BIGINT; the last of them, in Unix ms
-- column requests: BIGINT; requests that belong to it
-- column cost_usd: DECIMAL(38,12); list price of these requests; NULL when nothing of it is priced
-- column unpriced_requests: BIGINT; of the requests those without a known price, which the cost leaves out
-- shown: program_id, program_type, state, name, cost_usd, references_out, references_in, events, requests
-- empty: No programs yet; they come from `programs.json` or `programs.jsonl` beside session logs.
-- next: `aix program show ID` shows one program
-- caveat: A request belongs to its session, agent, task, human, model and provider at once, so the costs do not add up.
-- caveat: The filters choose requests; programs, references and events are always all.
-- rows: only with programs, program_events

-- References between programs, read once.
with reference as (
  select source_id, target_id, is_resolved from v_program_references where source_table = 'programs'
),
-- References of programs, and those that lead nowhere.
reference_out as (
  select
    source_id as program_id,
    count(distinct target_id) as programs,
    count(distinct case when not is_resolved then target_id end) as dangling
  from reference
  group by source_id
),
-- Programs that refer to a program.
reference_in as (
  select target_id as program_id, count(distinct source_id) as programs
  from reference
  group by target_id
),
-- Events of each program.
program_event as (
  select
    program_id,
    count(*) as events,
    max(occurred_at) as last_event_at,
    max_by(to_state, case when to_state is not null then event_order end) as state
  from v_program_events
  group by program_id
),
-- Requests with the programs that they belong to.
counted as (
  select
    r.cost_usd, case when r.has_usage and r.cost_usd is null then 1 else 0 end as is_unpriced,
    p.session_program_id, p.agent_id, p.task_id, p.human_id, p.model_program_id, p.provider_program_id
  from v_counted_requests r
  join v_request_programs p on p.request_id = r.request_id
),
-- Each request once for each of its programs.
share as (
  select session_program_id as program_id, cost_usd, is_unpriced from counted
  union all
  select agent_id, cost_usd, is_unpriced from counted
  union all
  select task_id, cost_usd, is_unpriced from counted
  union all
  select human_id, cost_usd, is_unpriced from counted
  union all
  select model_program_id, cost_usd, is_unpriced from counted
  union all
  select provider_program_id, cost_usd, is_unpriced from counted
),
-- Requests and cost of each program.
program_cost as (
  select program_id, count(*) as requests, sum(cost_usd) as cost_usd, sum(is_unpriced) as unpriced_requests
  from share
  where program_id is not null
  group by program_id
)
select
  p.id as program_id,
  p.program_type,
  coalesce(p.lifecycle, e.state) as state,
  coalesce(json_extract_string(p.config_json, '$.title'), json_extract_string(p.config_json, '$.name')) as name,
  coalesce(o.programs, 0) as references_out,
  coalesce(i.programs, 0) as references_in,
  coalesce(o.dangling, 0) as dangling,
  coalesce(e.events, 0) as events,
  e.last_event_at,
  coalesce(c.requests, 0) as requests,
  c.cost_usd,
  cast(coalesce(c.unpriced_requests, 0) as bigint) as unpriced_requests
from programs p
left join reference_out o on o.program_id = p.id
left join reference_in i on i.program_id = p.id
left join program_event e on e.program_id = p.id
left join program_cost c on c.program_id = p.id
order by p.program_type, p.id
