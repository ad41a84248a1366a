-- title: Cost by turn
-- question: What did each turn cost?
-- why: Finds the prompts that were dear.
-- grain: turn; what serves no turn, by session
-- params: filters
-- column turn_id: VARCHAR; the turn; NULL for side calls
-- column session_label: VARCHAR; the session it counts for
-- column title: VARCHAR; the beginning of its prompt on one line, else the title of its session
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
-- shown: turn_id, cost_usd, title, session_label, requests, output_tokens, input_tokens, cache_read_tokens, cost_estimated_usd
-- empty: No turns yet.
-- next: `aix show TURN` shows the turn
-- caveat: Where final_share is below 1, output and cost_usd are a lower bound.
with prompt as (
  select
    turn_id,
    trim(replace(replace(replace(left(content, 1000), chr(13), ' '), chr(10), ' '), chr(9), ' ')) as content,
    -- A message that a tool sent in the name of the user comes after what people typed.
    case when source = 'event' then '1' else '0' end
      || right('0000000000' || cast(sequence as varchar), 10) || id as place
  from messages
  where role = 'user'
),
first_prompt as (
  select turn_id, min_by(content, place) as content from prompt where content <> '' group by turn_id
),
turn_cost as (
  select
    turn_id,
    session_label,
    cast(case when turn_id is null then 0 else 1 end as bigint) as turns,
    count(*) as requests,
    cast(sum(input_tokens) as bigint) as input_tokens,
    cast(sum(output_tokens) as bigint) as output_tokens,
    cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(cache_write_5m_tokens) as bigint) as cache_write_5m_tokens,
    cast(sum(cache_write_1h_tokens) as bigint) as cache_write_1h_tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    sum(reported_cost_usd) as reported_cost_usd,
    count(case when is_unpriced then 1 end) as unpriced_requests,
    cast(coalesce(sum(unpriced_tokens), 0) as bigint) as unpriced_tokens,
    count(case when has_final_usage then 1 end)
      / nullif(count(case when has_usage then 1 end), 0) as final_share,
    min(price_basis)
      || case when min(price_basis) < max(price_basis) then ' and others' else '' end as price_basis
  from v_counted_requests
  group by turn_id, session_label
)
select
  c.turn_id, c.session_label,
  coalesce(p.content, s.title) as title,
  c.turns, c.requests,
  c.input_tokens, c.output_tokens, c.cache_read_tokens, c.cache_write_5m_tokens, c.cache_write_1h_tokens,
  c.cost_usd, c.cost_estimated_usd, c.reported_cost_usd,
  c.unpriced_requests, c.unpriced_tokens, c.final_share, c.price_basis
from turn_cost c
left join first_prompt p on p.turn_id = c.turn_id
left join v_session_titles s on s.session_label = c.session_label
order by c.cost_usd desc nulls last, c.turn_id, c.session_label
