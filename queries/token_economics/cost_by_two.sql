-- title: Cost by two things
-- question: What did each pair cost, such as day and model?
-- why: A day that costs much shows its models, a project its days.
-- grain: pair of values
-- params: filters
-- param timezone: text = UTC; the time zone whose days are meant
-- param first: text = day; the first thing, one of model, project, session, branch, day, week, month, block, tool, tag, origin, provider, role, turn, task, agent, human, situation, persona
-- param second: text = model; the second thing, one of model, project, session, branch, day, week, month, block, tool, tag, origin, provider, role, turn, task, agent, human, situation, persona
-- column first_value: VARCHAR; the first thing; as text where it is a day or the Unix ms at which a block began; NULL where it is not known
-- column second_value: VARCHAR; the second thing, in the same way
-- column turns: BIGINT; turns with such requests
-- column requests: BIGINT; requests
-- column input_tokens: BIGINT; uncached input; all tokens are NULL when unknown
-- column output_tokens: BIGINT; output as reported
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_5m_tokens: BIGINT; input written to the cache for 5 minutes, with what the log does not split
-- column cache_write_1h_tokens: BIGINT; input written to the cache for 1 hour
-- column cost_usd: DECIMAL(38,12); list price of the priced requests; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output where the report is not final
-- column reported_cost_usd: DECIMAL(38,12); what the sources themselves say it cost
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- column unpriced_tokens: BIGINT; their tokens, which no cost includes
-- column final_share: DOUBLE; share of the requests with usage whose reported output is the final count
-- column price_basis: VARCHAR; whether computed, and on which price; the first of several
-- shown: first_value, second_value, cost_usd, requests, turns, output_tokens, input_tokens, cache_read_tokens
-- empty: No requests yet.
-- next: `aix cost --by day,model` adds a total
-- caveat: The rows add up to the total, unless one thing is the tag: what has several tags counts for each of them.
-- caveat: A request that called several tools counts for the first; a shared turn counts for the session that began first.
-- caveat: Where final_share is below 1, output and cost_usd are a lower bound.
-- references: docs/economics.md#the-other-figures; a block
-- references: docs/programs.md#who-a-turn-counts-for; the task, agent and human of a request

-- Tags and programs are looked up only when one of the two things needs them: other pairs count each request once.
with turn_tag as (
  select entity_id as turn_id, tag from v_work_tags where entity_type = 'turns'
  union
  select o.turn_id, s.tag
  from v_turn_owner o
  join v_work_tags s on s.entity_type = 'sessions' and s.entity_id = o.session_label
),
-- Requests with the two things.
paired as (
  select
    case coalesce(getvariable('first'), 'day')
      when 'day' then cast(d.day as varchar)
      when 'week' then cast(cast(date_trunc('week', d.day) as date) as varchar)
      when 'month' then cast(cast(date_trunc('month', d.day) as date) as varchar)
      when 'block' then cast(h.block_started_at as varchar)
      when 'project' then r.project
      when 'session' then r.session_label
      when 'branch' then r.git_branch
      when 'tool' then r.first_tool_name
      when 'tag' then coalesce(t.tag, g.tag)
      when 'origin' then r.origin
      when 'provider' then r.provider
      when 'role' then r.role
      when 'turn' then r.turn_id
      when 'task' then p.task_id
      when 'agent' then p.agent_id
      when 'human' then p.human_id
      when 'situation' then p.situation
      when 'persona' then n.persona_id
      else r.model
    end as first_value,
    case coalesce(getvariable('second'), 'model')
      when 'day' then cast(d.day as varchar)
      when 'week' then cast(cast(date_trunc('week', d.day) as date) as varchar)
      when 'month' then cast(cast(date_trunc('month', d.day) as date) as varchar)
      when 'block' then cast(h.block_started_at as varchar)
      when 'project' then r.project
      when 'session' then r.session_label
      when 'branch' then r.git_branch
      when 'tool' then r.first_tool_name
      when 'tag' then coalesce(t.tag, g.tag)
      when 'origin' then r.origin
      when 'provider' then r.provider
      when 'role' then r.role
      when 'turn' then r.turn_id
      when 'task' then p.task_id
      when 'agent' then p.agent_id
      when 'human' then p.human_id
      when 'situation' then p.situation
      when 'persona' then n.persona_id
      else r.model
    end as second_value,
    r.*
  from v_counted_requests r
  left join v_local_days d on d.quarter_hour = r.quarter_hour
  left join v_block_hours h
    on (getvariable('first') = 'block' or getvariable('second') = 'block')
    and h.hour = cast(floor(r.quarter_hour / 4) as bigint)
  left join turn_tag t
    on (getvariable('first') = 'tag' or getvariable('second') = 'tag') and t.turn_id = r.turn_id
  left join v_work_tags g
    on (getvariable('first') = 'tag' or getvariable('second') = 'tag')
    and r.turn_id is null and g.entity_type = 'sessions' and g.entity_id = r.session_label
  left join v_request_programs p
    on (
      getvariable('first') in ('task', 'agent', 'human', 'situation')
      or getvariable('second') in ('task', 'agent', 'human', 'situation')
    )
    and p.request_id = r.request_id
  left join v_session_personas n
    on (getvariable('first') = 'persona' or getvariable('second') = 'persona') and n.session_label = r.session_label
),
-- One row for each pair.
pair_cost as (
  select
    first_value,
    second_value,
    count(distinct r.turn_id) as turns,
    count(*) as requests,
    cast(sum(r.input_tokens) as bigint) as input_tokens,
    cast(sum(r.output_tokens) as bigint) as output_tokens,
    cast(sum(r.cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(r.cache_write_5m_tokens) as bigint) as cache_write_5m_tokens,
    cast(sum(r.cache_write_1h_tokens) as bigint) as cache_write_1h_tokens,
    sum(r.cost_usd) as cost_usd,
    sum(r.cost_estimated_usd) as cost_estimated_usd,
    sum(r.reported_cost_usd) as reported_cost_usd,
    count(case when r.is_unpriced then 1 end) as unpriced_requests,
    cast(coalesce(sum(r.unpriced_tokens), 0) as bigint) as unpriced_tokens,
    count(case when r.has_final_usage then 1 end)
      / nullif(count(case when r.has_usage then 1 end), 0) as final_share,
    min(r.price_basis)
      || case when min(r.price_basis) < max(r.price_basis) then ' and others' else '' end as price_basis
  from paired r
  group by first_value, second_value
),
-- Pairs with the cost of the first thing, by which they are ordered.
ordered_pair as (
  select *, sum(cost_usd) over (partition by first_value) as first_cost_usd from pair_cost
)
select
  first_value, second_value,
  turns, requests,
  input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
  cost_usd, cost_estimated_usd, reported_cost_usd,
  unpriced_requests, unpriced_tokens, final_share, price_basis
from ordered_pair
-- Times in their order, other things by cost: first those of the first, then those of the second within it.
order by
  case when coalesce(getvariable('first'), 'day') in ('day', 'week', 'month', 'block') then first_value end,
  first_cost_usd desc nulls last,
  first_value,
  case when coalesce(getvariable('second'), 'model') in ('day', 'week', 'month', 'block') then second_value end,
  cost_usd desc nulls last,
  second_value
