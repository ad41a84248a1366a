-- title: Cost by persona
-- question: What did the work of each persona cost?
-- why: Personas are who works, whatever the tool; their costs show whose work is worth its price.
-- grain: persona
-- params: filters
-- column persona_id: VARCHAR; the persona; NULL where the request belongs to no session
-- column title: VARCHAR; its name, as the user's file has it
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
-- shown: persona_id, cost_usd, title, requests, turns, output_tokens, input_tokens, cache_read_tokens, cost_estimated_usd
-- empty: No requests yet.
-- next: `aix cost --by persona` adds a total
-- caveat: Where final_share is below 1, output and cost_usd are a lower bound.
-- caveat: A subagent counts for the persona of the session that started it, unless a mapping names its agent.
-- references: docs/personas.md#which-sessions-are-its-own; the persona of a session
select
  p.persona_id,
  min(d.name) as title,
  count(distinct turn_id) as turns,
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
from v_counted_requests r
left join v_session_personas p on p.session_label = r.session_label
left join personas d on d.persona_id = p.persona_id
group by p.persona_id
order by cost_usd desc nulls last, p.persona_id
