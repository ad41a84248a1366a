-- title: Repeated calls
-- question: Which calls were repeated within one session?
-- why: The same question asked twice fills the context twice; a cache, a note or a better prompt avoids it.
-- grain: tool
-- params: filters
-- column tool_name: VARCHAR; the tool
-- column distinct_calls: BIGINT; different calls that were made more than once in a session
-- column times: BIGINT; calls that repeat an earlier one; the first of each is not counted
-- column sessions: BIGINT; sessions with such repeats
-- column failed_before: BIGINT; repeats of a call that had failed or was denied the time before
-- column result_chars: BIGINT; length of the results of the repeats; NULL when unknown
-- column requests: BIGINT; requests that made the repeats
-- column cost_usd: DECIMAL(38,12); list price of those requests; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: tool_name, times, cost_usd, distinct_calls, sessions, failed_before, requests
-- empty: No call was repeated with the same parameters.
-- next: `aix query waste` shows all classes of work without a result
-- caveat: Not every repeat is waste: a test that is run again after a change is the same call.
-- caveat: A request counts as a whole, whatever other calls it made, and once for each tool that it repeats.
-- caveat: Calls without known parameters, and calls whose request is not known, are left out.
with repeated_call as (
  select
    c.call_id, c.tool_name, c.params_hash, c.result_chars, c.session_label, c.status_before, r.request_id,
    r.cost_usd, r.cost_estimated_usd, r.output_tokens, r.is_usage_final,
    row_number() over (partition by r.request_id, c.tool_name order by c.call_id) as place_in_request
  from v_counted_calls c
  join v_requests r on r.request_id = c.request_id
  where c.is_repeat
)
select
  tool_name,
  count(distinct session_label || ' ' || params_hash) as distinct_calls,
  count(*) as times,
  count(distinct session_label) as sessions,
  count(case when status_before = 'failed' then 1 end) as failed_before,
  cast(sum(result_chars) as bigint) as result_chars,
  count(distinct request_id) as requests,
  sum(case when place_in_request = 1 then cost_usd end) as cost_usd,
  sum(case when place_in_request = 1 then cost_estimated_usd end) as cost_estimated_usd,
  cast(coalesce(sum(case when is_usage_final and place_in_request = 1 then output_tokens end), 0) as double)
    / nullif(cast(sum(case when place_in_request = 1 then output_tokens end) as double), 0) as final_output_share
from repeated_call
group by tool_name
order by times desc, tool_name
