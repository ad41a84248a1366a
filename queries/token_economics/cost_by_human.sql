-- title: Cost by human
-- question: What did the work for each human cost?
-- why: The human for whom work was done answers for it.
-- grain: human
-- params: filters
-- column human: VARCHAR; the human, as programs say; NULL where none is known
-- column title: VARCHAR; their name
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
-- shown: human, cost_usd, title, requests, turns, output_tokens, input_tokens, cache_read_tokens, cost_estimated_usd
-- empty: No human yet.
-- next: `aix program show HUMAN` shows one human
-- caveat: A session is for the human that it, its owner or its task names by onBehalfOf, or that owns it.
-- caveat: A turn that several sessions share counts for the one that began first.
-- caveat: Where final_share is below 1, output and cost_usd are a lower bound.
-- references: docs/programs.md#who-a-turn-counts-for; the programs that a request belongs to
with human_cost as (
  select
    p.human_id as human,
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
  left join v_request_programs p on p.request_id = r.request_id
  group by p.human_id
)
select
  c.human,
  coalesce(json_extract_string(g.config_json, '$.title'), json_extract_string(g.config_json, '$.name')) as title,
  c.turns, c.requests,
  c.input_tokens, c.output_tokens, c.cache_read_tokens, c.cache_write_5m_tokens, c.cache_write_1h_tokens,
  c.cost_usd, c.cost_estimated_usd, c.reported_cost_usd,
  c.unpriced_requests, c.unpriced_tokens, c.final_share, c.price_basis
from human_cost c
left join programs g on g.id = c.human
order by c.cost_usd desc nulls last, c.human
