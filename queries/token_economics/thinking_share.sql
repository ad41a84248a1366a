-- title: Thinking share
-- question: How much of each model's output is thinking?
-- why: Thinking is paid for as output; a lower effort saves it where it does not help.
-- grain: model
-- params: filters
-- column model: VARCHAR; the model the request named; NULL when it named none
-- column requests: BIGINT; requests
-- column thinking_requests: BIGINT; requests with thinking that is logged or reported
-- column thinking_chars: BIGINT; length of the thinking that is logged; NULL when none is
-- column estimated_thinking_tokens: BIGINT; a fourth of that
-- column reasoning_tokens: BIGINT; thinking as the source counts it; NULL when it never does
-- column output_tokens: BIGINT; output as reported; NULL when unknown
-- column likely_output_tokens: BIGINT; output, with the estimate where that is larger and the report not final
-- column thinking_share: DOUBLE; thinking as a share of the likely output, where the source counts it as counted
-- column basis: VARCHAR; reported, estimated from the length, mixed, or none where no thinking is known
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: model, thinking_share, likely_output_tokens, estimated_thinking_tokens, requests, thinking_requests, output_tokens
-- empty: No requests yet.
-- caveat: Thinking that a client does not log, or only as a signature, is not known: the share is then too small.
-- caveat: Some models log a summary of their thinking, which is shorter than what was paid for.
-- references: docs/economics.md#the-other-figures; the share of thinking
with thinking_request as (
  select
    r.model, r.output_tokens, r.likely_output_tokens, r.is_usage_final,
    case when r.kind = 'main' and r.thinking_chars between 1 and 1000000000000 then r.thinking_chars end
      as thinking_chars,
    case when r.reasoning_tokens > 0 then r.reasoning_tokens end as reasoning_tokens
  from v_counted_requests r
),
model_totals as (
  select
    model,
    count(*) as requests,
    count(coalesce(reasoning_tokens, thinking_chars)) as thinking_requests,
    cast(sum(thinking_chars) as bigint) as thinking_chars,
    cast(sum(reasoning_tokens) as bigint) as reasoning_tokens,
    cast(sum(output_tokens) as bigint) as output_tokens,
    cast(sum(likely_output_tokens) as bigint) as likely_output_tokens,
    sum(coalesce(cast(reasoning_tokens as double), thinking_chars / 4)) as thinking_tokens,
    count(reasoning_tokens) as reported,
    coalesce(sum(case when is_usage_final then output_tokens end), 0) as final_output_tokens
  from thinking_request
  group by model
)
select
  model,
  requests,
  thinking_requests,
  thinking_chars,
  cast(ceil(thinking_chars / 4) as bigint) as estimated_thinking_tokens,
  reasoning_tokens,
  output_tokens,
  likely_output_tokens,
  thinking_tokens / nullif(likely_output_tokens, 0) as thinking_share,
  case
    when thinking_requests = 0 then 'none'
    when reported = thinking_requests then 'reported'
    when reported = 0 then 'estimated'
    else 'mixed'
  end as basis,
  cast(final_output_tokens as double) / nullif(cast(output_tokens as double), 0) as final_output_share
from model_totals
order by thinking_tokens desc nulls last, model
