-- title: Cost by tag
-- question: What did the work under each tag cost?
-- why: Tags are how people group work across sessions and projects.
-- grain: tag
-- params: filters
-- column tag: VARCHAR; the tag of the turn or of its session; NULL for what has none
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
-- shown: tag, cost_usd, requests, turns, output_tokens, input_tokens, cache_read_tokens, cost_estimated_usd
-- empty: No tag yet.
-- next: `aix tag add TAG SESSION` tags a session
-- caveat: What has several tags counts for each of them, so the rows add up to more than the total.
-- caveat: A tag of a session is not one of its subagents, which are sessions of their own.
-- caveat: Where final_share is below 1, output and cost_usd are a lower bound.
with turn_tag as (
  select entity_id as turn_id, tag from v_work_tags where entity_type = 'turns'
  union
  select o.turn_id, g.tag
  from v_turn_owner o
  join v_work_tags g on g.entity_type = 'sessions' and g.entity_id = o.session_label
)
select
  coalesce(t.tag, g.tag) as tag,
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
from v_counted_requests r
left join turn_tag t on t.turn_id = r.turn_id
left join v_work_tags g on r.turn_id is null and g.entity_type = 'sessions' and g.entity_id = r.session_label
group by coalesce(t.tag, g.tag)
order by cost_usd desc nulls last, tag
