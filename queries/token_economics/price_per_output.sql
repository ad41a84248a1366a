-- title: Price per output token
-- question: What does output cost with all that is read for it?
-- why: List prices leave out the input; this is what an answer really costs.
-- grain: model
-- params: filters
-- column model: VARCHAR; the model the request named
-- column requests: BIGINT; priced requests
-- column cost_usd: DECIMAL(38,12); their cost
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output where the report is not final
-- column output_tokens: BIGINT; their output as reported
-- column likely_output_tokens: BIGINT; the same with the estimate where that is larger and the report not final
-- column answer_tokens: BIGINT; estimated tokens of the texts that ended a turn, at four characters each
-- column usd_per_million_output_tokens: DOUBLE; cost_usd for a million tokens of reported output
-- column usd_per_million_likely_tokens: DOUBLE; cost_estimated_usd for a million tokens of likely output
-- column usd_per_million_answer_tokens: DOUBLE; cost_estimated_usd for a million tokens of answers
-- column list_usd_per_million_output_tokens: DOUBLE; the list price of output alone, the highest that applied
-- column final_share: DOUBLE; share of these requests whose reported output is the final count
-- shown: model, usd_per_million_output_tokens, list_usd_per_million_output_tokens, cost_usd, output_tokens, usd_per_million_likely_tokens, usd_per_million_answer_tokens, requests
-- empty: No requests yet.
-- next: `aix query carry_cost` shows what fills the input
-- caveat: Reported output that is not final is too low, and its price then too high; the likely output is nearer.
with model_totals as (
  select
    r.model,
    count(*) as requests,
    sum(r.cost_usd) as cost_usd,
    sum(r.cost_estimated_usd) as cost_estimated_usd,
    cast(sum(r.output_tokens) as bigint) as output_tokens,
    cast(sum(r.likely_output_tokens) as bigint) as likely_output_tokens,
    cast(sum(r.answer_chars) as bigint) // 4 as answer_tokens,
    max(r.output_price_usd) as output_price_usd,
    count(case when r.has_final_usage then 1 end) as final_requests
  from v_counted_requests r
  where r.cost_usd is not null
  group by r.model
)
select
  model, requests, cost_usd, cost_estimated_usd, output_tokens, likely_output_tokens, answer_tokens,
  cast(cost_usd as double) * 1000000 / nullif(output_tokens, 0) as usd_per_million_output_tokens,
  cast(cost_estimated_usd as double) * 1000000 / nullif(likely_output_tokens, 0) as usd_per_million_likely_tokens,
  cast(cost_estimated_usd as double) * 1000000 / nullif(answer_tokens, 0) as usd_per_million_answer_tokens,
  cast(output_price_usd as double) * 1000000 as list_usd_per_million_output_tokens,
  final_requests / nullif(requests, 0) as final_share
from model_totals
order by cost_usd desc, model
