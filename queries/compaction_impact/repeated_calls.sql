-- title: Calls repeated after a compaction
-- question: Which calls were repeated after a compaction?
-- why: A call that is made again may ask for what the summary dropped; say in the prompt of the compaction what to keep.
-- grain: compaction, tool and parameters
-- params: filters
-- param k: integer = 10; turns after a compaction that are looked at
-- column compaction_turn_id: VARCHAR; the compaction
-- column session_label: VARCHAR; the session it counts for
-- column compacted_at: BIGINT; when, in Unix ms
-- column tool_name: VARCHAR; the tool
-- column params_hash: VARCHAR; hash of the parameters
-- column times_before: BIGINT; calls before it, back to the compaction before
-- column times_after: BIGINT; calls in the k turns after it, until the next compaction
-- column failed_before: BIGINT; those of the calls before that failed or were denied
-- column failed_after: BIGINT; those of the calls after that failed or were denied
-- column last_status_before: VARCHAR; how far the last one before came
-- column first_status_after: VARCHAR; how far the first one after came
-- column first_distance_after: BIGINT; the turn after the compaction that made the first one, from 1
-- column kept_before: BIGINT; those of the calls before whose turns were kept: their results were still there
-- column result_tokens_after: BIGINT; tokens of the results after it; NULL when unknown
-- column basis: VARCHAR; of these tokens: measured by the context's growth, estimated from the length, or mixed
-- shown: compaction_turn_id, tool_name, times_after, times_before, result_tokens_after, failed_after, first_distance_after, compacted_at, session_label
-- empty: No call was repeated after a compaction.
-- next: `aix compactions TURN` shows one compaction in detail
-- caveat: Not every repeat is a loss: a test that is run again after a change is the same call.
-- caveat: All branches after a compaction count; calls of subagents do not.
-- references: docs/compaction.md#method; a repeated call
with call_on_both_sides as (
  select
    c.turn_id as compaction_turn_id, c.session_label, c.compacted_at, c.kept_turns, k.call_id, k.distance, k.tool_name,
    k.params_hash, k.status, k.result_tokens, k.is_measured,
    row_number() over (
      partition by c.turn_id, k.tool_name, k.params_hash, k.distance > 0
      order by abs(k.distance), case when k.distance > 0 then k.call_place else -k.call_place end
    ) as place
  from v_counted_compactions c
  join v_compaction_calls k on k.compaction_turn_id = c.turn_id
  where k.is_on_both_sides and k.distance <= coalesce(getvariable('k'), 10)
)
select
  compaction_turn_id,
  session_label,
  compacted_at,
  tool_name,
  params_hash,
  count(case when distance < 0 then 1 end) as times_before,
  count(case when distance > 0 then 1 end) as times_after,
  count(case when distance < 0 and status = 'failed' then 1 end) as failed_before,
  count(case when distance > 0 and status = 'failed' then 1 end) as failed_after,
  max(case when distance < 0 and place = 1 then status end) as last_status_before,
  max(case when distance > 0 and place = 1 then status end) as first_status_after,
  min(case when distance > 0 then distance end) as first_distance_after,
  count(case when distance < 0 and distance >= -kept_turns then 1 end) as kept_before,
  cast(sum(case when distance > 0 then result_tokens end) as bigint) as result_tokens_after,
  case
    when count(case when distance > 0 then result_tokens end) = 0 then null
    when bool_and(is_measured or distance < 0 or result_tokens is null) then 'measured'
    when bool_or(is_measured and distance > 0) then 'mixed'
    else 'estimated'
  end as basis
from call_on_both_sides
group by compaction_turn_id, session_label, compacted_at, tool_name, params_hash
having count(case when distance > 0 then 1 end) > 0
order by compacted_at, compaction_turn_id, result_tokens_after desc nulls last, tool_name, params_hash
