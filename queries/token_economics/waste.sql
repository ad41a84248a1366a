-- title: Waste
-- question: How much was spent without a result, and on what?
-- why: Each class has a remedy of its own: permissions, prompts, shorter pauses, smaller steps.
-- grain: class of waste
-- params: filters
-- column class: VARCHAR; what kind of waste it is
-- column counted: VARCHAR; what the figures of this class count
-- column turns: BIGINT; turns of these requests
-- column requests: BIGINT; requests
-- column calls: BIGINT; tool calls, in the classes that are about calls
-- column cost_usd: DECIMAL(38,12); list price; NULL when nothing of it is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: class, cost_usd, requests, turns, calls, cost_estimated_usd, counted
-- empty: No waste found.
-- next: do not add the classes up, as they overlap; `aix query cache_break_causes`, `aix query token_economics/repeated_calls` and `aix query denials` show details
-- caveat: Classes overlap (a denied call in a failed turn counts in both): never add them up.
-- caveat: These are upper bounds: an abandoned turn may have been of use, a repeated call may have been needed.
-- caveat: A denied or repeated call stands for the whole request that made it.
-- caveat: Cache loss is what at least 1,024 lost tokens cost beyond reading them from the cache, on the same model.
with turn_flag as (
  select
    t.id as turn_id,
    t.status = 'failed' and not coalesce(c.is_interrupted, false) as is_failed,
    coalesce(c.is_interrupted, false) as is_interrupted,
    a.turn_id is not null as is_abandoned
  from turns t
  left join turn_context c on c.turn_id = t.id
  left join v_abandoned_turns a on a.turn_id = t.id
  where t.status = 'failed' or c.is_interrupted or a.turn_id is not null
),
retry_request as (
  select next_request_id as request_id from v_api_errors where next_request_id is not null group by next_request_id
),
flagged_request as (
  select
    c.turn_id, c.output_tokens, c.is_usage_final, c.cost_usd, c.cost_estimated_usd,
    t.is_failed,
    t.is_interrupted,
    t.is_abandoned,
    c.denied_calls,
    c.repeated_calls,
    case
      when c.before_model = c.model
        and c.gap_ms > case when c.before_write_1h_tokens > 0 then 3600000 else 300000 end
        then least(c.before_context_tokens, c.context_tokens) - coalesce(c.cache_read_tokens, 0)
    end as lost_tokens,
    case
      when c.cache_write_1h_tokens > 0 then c.cache_write_1h_price_usd
      when c.cache_write_5m_tokens > 0 then c.cache_write_5m_price_usd
      else c.input_price_usd
    end - c.cache_read_price_usd as premium_usd,
    f.request_id is not null as is_retry
  from v_counted_requests c
  left join turn_flag t on t.turn_id = c.turn_id
  left join retry_request f on f.request_id = c.request_id
  where coalesce(t.turn_id, f.request_id) is not null
    or c.denied_calls > 0 or c.repeated_calls > 0 or c.gap_ms > 300000
)
select
  k.class,
  k.counted,
  count(distinct f.turn_id) as turns,
  count(f.is_retry) as requests,
  cast(
    sum(case k.class when 'denied_call' then f.denied_calls when 'repeated_call' then f.repeated_calls end) as bigint
  ) as calls,
  sum(
    case when k.class = 'cache_loss' then cast(f.lost_tokens * f.premium_usd as decimal(38, 12)) else f.cost_usd end
  ) as cost_usd,
  sum(
    case
      when k.class = 'cache_loss' then cast(f.lost_tokens * f.premium_usd as decimal(38, 12))
      else f.cost_estimated_usd
    end
  ) as cost_estimated_usd,
  cast(coalesce(sum(case when f.is_usage_final then f.output_tokens end), 0) as double)
    / nullif(cast(sum(f.output_tokens) as double), 0) as final_output_share
from (
  values
    (1, 'failed_turn', 'all requests of turns that failed and were not interrupted'),
    (2, 'interrupted_turn', 'all requests of turns that the user or a hook stopped'),
    (3, 'abandoned_branch', 'all requests of turns that no active session builds on'),
    (4, 'denied_call', 'requests that asked for a call that was denied'),
    (5, 'repeated_call', 'requests that made a call again with the same parameters in the same session'),
    (6, 'cache_loss', 'requests after a pause longer than the cache lives; the price of what it had lost'),
    (7, 'api_error_retry', 'the first request after an API error')
) as k (place, class, counted)
left join flagged_request f on case k.class
  when 'failed_turn' then f.is_failed
  when 'interrupted_turn' then f.is_interrupted
  when 'abandoned_branch' then f.is_abandoned
  when 'denied_call' then f.denied_calls > 0
  when 'repeated_call' then f.repeated_calls > 0
  when 'cache_loss' then f.lost_tokens >= 1024
  when 'api_error_retry' then f.is_retry
end
group by k.place, k.class, k.counted
order by k.place
