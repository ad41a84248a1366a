-- title: Latency and throughput
-- question: How fast did each model answer?
-- why: Shows which model, provider or setting keeps people waiting.
-- grain: model, provider and situation
-- params: filters
-- column model: VARCHAR; the model the request named; NULL when it named none
-- column provider: VARCHAR; the vendor of the API
-- column situation: VARCHAR; the named set of parameters in force; NULL when none is named
-- column requests: BIGINT; requests with a known latency
-- column p50_ms: BIGINT; half of them were answered within this time
-- column p95_ms: BIGINT; 95 of 100 of them were answered within this time
-- column output_tokens_per_second: DOUBLE; median over the requests whose output is the final count; NULL without such
-- column basis: VARCHAR; reported by the source, computed from the time since the record before, or mixed
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: model, p50_ms, p95_ms, output_tokens_per_second, requests, situation, provider
-- empty: No request has a known duration.
-- caveat: Computed is the time from the record before, in the same turn, to the first that the log has of the answer.
-- caveat: An answer may have gone on after its first part: a computed latency makes tokens per second an upper bound.
with timed_request as (
  select
    r.model, r.provider, r.situation, r.output_tokens, r.is_usage_final,
    r.latency_ms is not null as is_reported,
    coalesce(r.latency_ms, r.waited_ms) as latency_ms
  from v_counted_requests r
  where r.kind = 'main' and r.requested_at between -62135596800000 and 253402214400000
),
plausible_request as (
  select * from timed_request where latency_ms between 0 and 86400000
),
latency_count as (
  select model, provider, situation, latency_ms, count(*) as requests
  from plausible_request
  group by model, provider, situation, latency_ms
),
ranked_latency as (
  select
    *,
    sum(requests) over (partition by model, provider, situation order by latency_ms rows unbounded preceding) as place,
    sum(requests) over (partition by model, provider, situation) as total
  from latency_count
),
percentile as (
  select
    model, provider, situation,
    min(case when place >= 0.5 * total then latency_ms end) as p50_ms,
    min(case when place >= 0.95 * total then latency_ms end) as p95_ms
  from ranked_latency
  group by model, provider, situation
),
group_totals as (
  select
    model, provider, situation,
    count(*) as requests,
    median(
      case when is_usage_final and output_tokens > 0 and latency_ms > 0 then output_tokens * 1000 / latency_ms end
    ) as per_second,
    count(case when is_reported then 1 end) as reported,
    sum(output_tokens) as output_tokens,
    sum(case when is_usage_final then output_tokens end) as final_output_tokens
  from plausible_request
  group by model, provider, situation
)
select
  s.model,
  s.provider,
  s.situation,
  s.requests,
  p.p50_ms,
  p.p95_ms,
  s.per_second as output_tokens_per_second,
  case when s.reported = s.requests then 'reported' when s.reported = 0 then 'computed' else 'mixed' end as basis,
  cast(coalesce(s.final_output_tokens, 0) as double) / nullif(cast(s.output_tokens as double), 0) as final_output_share
from group_totals s
join percentile p
  on p.model is not distinct from s.model
  and p.provider is not distinct from s.provider
  and p.situation is not distinct from s.situation
order by s.requests desc, s.model, s.provider, s.situation
