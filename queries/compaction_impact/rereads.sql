-- title: Files read again after a compaction
-- question: Which files were read again after a compaction?
-- why: These are what the summary could not keep; reading them again takes back part of what it saved.
-- grain: compaction and file
-- params: filters
-- param k: integer = 10; turns after a compaction that are looked at
-- column compaction_turn_id: VARCHAR; the compaction
-- column session_label: VARCHAR; the session it counts for
-- column compacted_at: BIGINT; when, in Unix ms
-- column file_path: VARCHAR; the file
-- column read_before: BIGINT; messages that read it before, back to the compaction before
-- column read_after: BIGINT; messages that read it in the k turns after, until the next compaction
-- column first_distance_after: BIGINT; the turn after the compaction that first read it again, from 1
-- column is_summarized: BOOLEAN; whether all that was read of it before stood in turns that the summary replaced
-- column result_tokens: BIGINT; tokens of the results that read it again; NULL when unknown
-- column tokens_basis: VARCHAR; of these tokens: measured by the context's growth, estimated from the length, or mixed
-- column cost_usd: DECIMAL(38,12); these tokens at the list price of the request that took them in; NULL without a price
-- shown: compaction_turn_id, file_path, cost_usd, read_after, read_before, result_tokens, compacted_at, session_label
-- empty: No file was read again after a compaction.
-- next: `aix compactions TURN` shows one compaction in detail
-- caveat: The cost is that of taking a result in once, as a cache write where the next request made one; not of carrying it.
-- caveat: A result that no request took in has no cost.
-- caveat: Not every reread is a loss: the file may have changed, or other lines of it were read.
-- caveat: What a command such as cat printed is no known read; nor are reads of subagents.
-- references: docs/compaction.md#method; a reread
select
  c.turn_id as compaction_turn_id,
  c.session_label,
  c.compacted_at,
  r.file_path,
  count(case when r.distance < 0 then 1 end) as read_before,
  count(case when r.distance > 0 then 1 end) as read_after,
  min(case when r.distance > 0 then r.distance end) as first_distance_after,
  max(case when r.distance < 0 then r.distance end) < -max(c.kept_turns) as is_summarized,
  cast(sum(case when r.distance > 0 then r.result_tokens end) as bigint) as result_tokens,
  case
    when count(case when r.distance > 0 then r.result_tokens end) = 0 then null
    when bool_and(r.is_measured or r.distance < 0 or r.result_tokens is null) then 'measured'
    when bool_or(r.is_measured and r.distance > 0) then 'mixed'
    else 'estimated'
  end as tokens_basis,
  sum(case when r.distance > 0 then cast(r.result_tokens * r.intake_price_usd as decimal(38, 12)) end) as cost_usd
from v_counted_compactions c
join v_compaction_reads r on r.compaction_turn_id = c.turn_id
where r.distance <= coalesce(getvariable('k'), 10)
group by c.turn_id, c.session_label, c.compacted_at, r.file_path
having count(case when r.distance > 0 then 1 end) > 0
order by c.compacted_at, c.turn_id, cost_usd desc nulls last, r.file_path
