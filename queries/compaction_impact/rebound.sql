-- title: Rebound
-- question: How soon was the context as large again?
-- why: A context that is soon full again gained little; smaller results or a new session would have helped more.
-- grain: compaction
-- params: filters
-- param share: number = 1.0; the share of the context before at which it counts as back
-- column compaction_turn_id: VARCHAR; the compaction
-- column session_label: VARCHAR; the session it counts for
-- column compacted_at: BIGINT; when, in Unix ms
-- column trigger: VARCHAR; why: context_limit, manual, periodic; NULL when the log does not say
-- column tokens_before: BIGINT; whole context before; reported
-- column tokens_after: BIGINT; whole context after; reported where a request followed
-- column level_tokens: BIGINT; the context at which it counts as back: the share of tokens_before, rounded; computed
-- column is_rebounded: BOOLEAN; whether a request after it reached that; NULL without a known level or any request
-- column turns: BIGINT; turns until then, the one that reached it included; NULL when none did
-- column requests: BIGINT; requests until then, the one that reached it included; NULL when none did
-- column minutes: DOUBLE; from the compaction until that request; NULL when none did, or the clock went back
-- column grown_tokens: BIGINT; growth from the first request after it to that one; NULL when none did; computed
-- column sent_tokens: BIGINT; whole input of the requests until then, summed; NULL when none did; computed
-- column ended_by: VARCHAR; what ended the stretch looked at: rebound, next_compaction, or end of what is known
-- column stretch_requests: BIGINT; requests of that stretch
-- column highest_tokens: BIGINT; the largest context of that stretch; NULL without requests; reported
-- column highest_share: DOUBLE; that as a share of tokens_before
-- column growth_per_request: DOUBLE; growth from one request of the stretch to the next; NULL with one request; computed
-- shown: compaction_turn_id, compacted_at, is_rebounded, requests, minutes, highest_share, tokens_before, tokens_after, growth_per_request, session_label
-- empty: No compaction yet.
-- next: `aix query rebound_causes` shows what filled the context
-- caveat: tokens_before counts the last answer too, so a stretch up to the same limit ends just short of it: try share 0.95.
-- caveat: All branches after a compaction count, by depth and time.
-- references: docs/compaction.md#method; the rebound
with rebound_request as (
  select
    c.turn_id as compaction_turn_id,
    min(case when r.context_tokens >= coalesce(getvariable('share'), 1.0) * c.tokens_before then r.place end) as place
  from v_counted_compactions c
  join v_compaction_requests r on r.compaction_turn_id = c.turn_id
  group by c.turn_id
),
stretch_totals as (
  select
    k.compaction_turn_id,
    max(r.place) as requests,
    max(r.distance) as turns,
    max(case when r.place = k.place then r.requested_at end) as rebounded_at,
    cast(sum(r.context_tokens) as bigint) as sent_tokens,
    max(r.context_tokens) as highest_tokens,
    arg_max(r.context_tokens, r.place) - arg_min(r.context_tokens, r.place) as grown_tokens
  from rebound_request k
  join v_compaction_requests r on r.compaction_turn_id = k.compaction_turn_id
  where r.place <= coalesce(k.place, r.place)
  group by k.compaction_turn_id
)
select
  c.turn_id as compaction_turn_id,
  c.session_label,
  c.compacted_at,
  c.trigger,
  c.tokens_before,
  c.tokens_after,
  try_cast(round(coalesce(getvariable('share'), 1.0) * c.tokens_before) as bigint) as level_tokens,
  case when c.tokens_before is not null and k.compaction_turn_id is not null then k.place is not null end as is_rebounded,
  case when k.place is not null then s.turns end as turns,
  case when k.place is not null then s.requests end as requests,
  case when s.rebounded_at >= c.compacted_at then cast(s.rebounded_at - c.compacted_at as double) / 60000 end as minutes,
  case when k.place is not null then s.grown_tokens end as grown_tokens,
  case when k.place is not null then s.sent_tokens end as sent_tokens,
  case
    when k.place is not null then 'rebound'
    when c.next_compaction_turn_id is not null then 'next_compaction'
    else 'end'
  end as ended_by,
  coalesce(s.requests, 0) as stretch_requests,
  s.highest_tokens,
  cast(s.highest_tokens as double) / nullif(cast(c.tokens_before as double), 0) as highest_share,
  cast(s.grown_tokens as double) / nullif(cast(s.requests - 1 as double), 0) as growth_per_request
from v_counted_compactions c
left join rebound_request k on k.compaction_turn_id = c.turn_id
left join stretch_totals s on s.compaction_turn_id = c.turn_id
order by c.compacted_at, c.turn_id
