-- title: Causes of the rebound
-- question: What filled the context again after a compaction?
-- why: Says what to make smaller so that the next compaction comes later, or not at all.
-- grain: class and tool; with per = compaction each compaction apart
-- params: filters
-- param share: number = 1.0; the share of the context before at which it counts as back
-- param per: text = all; what the rows are made of: one of all, compaction
-- column compaction_turn_id: VARCHAR; the compaction; NULL where the row stands for all of them
-- column class: VARCHAR; tool_results, model_output, user_input, or other: growth that nothing of these explains
-- column tool_name: VARCHAR; the tool whose results they are
-- column compactions: BIGINT; compactions that it was found after
-- column calls: BIGINT; calls of the tool
-- column tokens: BIGINT; what came into the context; NULL when unknown
-- column token_share: DOUBLE; share of the tokens of all classes
-- column basis: VARCHAR; measured by growth, reported, computed as a rest, estimated from lengths, or mixed
-- shown: class, tool_name, tokens, token_share, compactions, calls, compaction_turn_id
-- empty: No compaction yet.
-- next: --session SESSION narrows it down to one session
-- caveat: Counted from the first request after it to the one that reached the level before, or the last until the next.
-- caveat: Where the classes explain more than the growth, other is 0 for that compaction, never negative.
-- caveat: Reminders count for the results they came in with, and so does, a second time, what the user wrote meanwhile.
-- caveat: Results of calls whose request is not known count as other.
-- references: docs/compaction.md#method; causes of the rebound

-- The request at which the context was back, or the last one where it never was.
with stretch_end as (
  select
    c.turn_id as compaction_turn_id,
    coalesce(
      min(case when r.context_tokens >= coalesce(getvariable('share'), 1.0) * c.tokens_before then r.place end),
      max(r.place)
    ) as place
  from v_counted_compactions c
  join v_compaction_requests r on r.compaction_turn_id = c.turn_id
  group by c.turn_id
),
-- All requests up to that one; a stretch of one request has not grown.
stretch_request as (
  select k.place as last_place, r.*
  from stretch_end k
  join v_compaction_requests r on r.compaction_turn_id = k.compaction_turn_id
  where k.place > 1 and r.place <= k.place
),
-- What the first request took in was there when the stretch began, and the last one's answer came after its end.
stretch_totals as (
  select
    compaction_turn_id,
    arg_max(context_tokens, place) - arg_min(context_tokens, place) as grown_tokens,
    cast(sum(case when place < last_place then likely_output_tokens end) as bigint) as output_tokens,
    bool_and(is_usage_final or place = last_place) as has_only_final,
    bool_or(is_usage_final and place < last_place) as has_final,
    cast(ceil(sum(case when place > 1 then prompt_chars end) / 4) as bigint) as prompt_tokens
  from stretch_request
  group by compaction_turn_id
),
-- Results of calls within the stretch, by tool.
tool_results as (
  select
    k.compaction_turn_id,
    c.tool_name,
    count(*) as calls,
    cast(sum(c.result_tokens) as bigint) as tokens,
    bool_or(c.is_measured) as has_measured,
    bool_and(c.is_measured) as has_only_measured
  from stretch_end k
  join v_compaction_calls c on c.compaction_turn_id = k.compaction_turn_id and c.place < k.place
  group by k.compaction_turn_id, c.tool_name
),
-- The part of the growth that results account for.
explained_tokens as (
  select compaction_turn_id, sum(tokens) as tokens from tool_results group by compaction_turn_id
),
-- One row for each kind of content; `other` is the growth that nothing else accounts for.
cause as (
  select
    compaction_turn_id, 'tool_results' as class, tool_name, calls, tokens,
    has_measured as has_best, has_only_measured as has_only_best
  from tool_results
  union all
  select
    compaction_turn_id, 'model_output' as class, null as tool_name, null as calls, output_tokens as tokens,
    has_final as has_best, has_only_final as has_only_best
  from stretch_totals
  union all
  select
    compaction_turn_id, 'user_input' as class, null as tool_name, null as calls, prompt_tokens as tokens,
    false as has_best, false as has_only_best
  from stretch_totals
  where prompt_tokens is not null
  union all
  select
    s.compaction_turn_id, 'other' as class, null as tool_name, null as calls,
    cast(
      greatest(
        s.grown_tokens - coalesce(s.output_tokens, 0) - coalesce(s.prompt_tokens, 0) - coalesce(e.tokens, 0), 0
      ) as bigint
    ) as tokens,
    true as has_best, true as has_only_best
  from stretch_totals s
  left join explained_tokens e on e.compaction_turn_id = s.compaction_turn_id
),
-- Added up over all compactions, or apart for each.
cause_totals as (
  select
    case when getvariable('per') = 'compaction' then compaction_turn_id end as compaction_turn_id,
    class,
    tool_name,
    count(*) as compactions,
    cast(sum(calls) as bigint) as calls,
    cast(sum(tokens) as bigint) as tokens,
    bool_or(has_best) as has_best,
    bool_and(has_only_best) as has_only_best
  from cause
  group by 1, 2, 3
)
select
  compaction_turn_id,
  class,
  tool_name,
  compactions,
  calls,
  tokens,
  cast(tokens as double) / nullif(cast(sum(tokens) over (partition by compaction_turn_id) as double), 0)
    as token_share,
  case
    when class = 'other' then 'computed'
    when has_only_best then case when class = 'tool_results' then 'measured' else 'reported' end
    when has_best then 'mixed'
    else 'estimated'
  end as basis
from cause_totals
order by compaction_turn_id nulls first, tokens desc nulls last, class, tool_name nulls first
