-- title: What if: compacted earlier, or not at all
-- question: What if compacted at another size, or never?
-- why: Where to compact is a setting; this tells what a change is worth before it is made.
-- grain: session
-- params: filters
-- param at: integer = 100000; the context at which a session would be compacted, in tokens
-- param never: flag = false; whether it would not be compacted at all, whatever its size
-- param after: integer = none; the context that a compaction leaves; none, or below 0, takes the median of the ledger
-- param summary: integer = none; tokens of a summary; none, or below 0, takes the median of the ledger
-- column session_label: VARCHAR; the session
-- column requests: BIGINT; its requests of kind main with usage
-- column unpriced_requests: BIGINT; requests among them without a price, which no cost includes
-- column compactions_now: BIGINT; compactions as they were
-- column compactions_then: BIGINT; compactions then; NULL when nothing says what one leaves
-- column peak_now_tokens: BIGINT; reported: largest context as it was
-- column peak_then_tokens: BIGINT; estimated: largest context then
-- column cost_now_usd: DECIMAL(38,12); its requests and the summarising calls as they were; NULL when none has a price
-- column cost_then_usd: DECIMAL(38,12); the same then; NULL when it cannot be told
-- column difference_usd: DECIMAL(38,12); cost then less cost now
-- column basis: VARCHAR; of all that is said of then: estimated
-- shown: session_label, difference_usd, cost_now_usd, cost_then_usd, compactions_now, compactions_then, peak_now_tokens, peak_then_tokens, requests
-- empty: No session was compacted, or grew large enough to be.
-- next: --param at=150000 compacts later, --param never=true not at all
-- caveat: Each request adds what it really added; only what it carries along differs, priced as read from the cache.
-- caveat: Real compactions are undone: what one cut is carried on. Each supposed one cuts the context from at to after.
-- caveat: One before a session's first own request, which summarises another session's history, stays as it was.
-- caveat: A supposed compaction reads the context, writes a summary, and writes anew as much as the median of the ledger.
-- caveat: Prices are those of the real request: a larger context may cost more, or not fit the window at all.
-- caveat: A compaction whose cost is not known adds nothing to the cost now.
-- caveat: What a model forgets, does again or does better with less context is not counted.
-- caveat: Sessions without a compaction, now and then, are left out.
-- references: docs/compaction.md#method; the same growth, compacted at another size

-- The parameters, with medians of the ledger where none is given.
with setting as (
  select
    coalesce(getvariable('at'), 100000) as at_tokens,
    coalesce(getvariable('never'), false) as is_never,
    coalesce(
      case when getvariable('after') >= 0 then getvariable('after') end,
      cast(floor(median(tokens_after)) as bigint)
    ) as after_tokens,
    coalesce(
      case when getvariable('summary') >= 0 then getvariable('summary') end,
      cast(floor(median(summary_tokens)) as bigint)
    ) as summary_tokens,
    cast(
      floor(
        median(
          case
            when coalesce(after_cache_write_5m_tokens, after_cache_write_1h_tokens) is not null
              then coalesce(after_cache_write_5m_tokens, 0) + coalesce(after_cache_write_1h_tokens, 0)
          end
        )
      ) as bigint
    ) as rebuild_tokens
  from v_compactions
),
-- What was summarised before a session's first request is another session's, and stays summarised.
real_compaction as (
  select
    session_label, turn_id, compacted_at, summarise_cost_usd, rebuild_premium_usd,
    before_session_label is distinct from session_label as is_kept,
    case when before_session_label = session_label then coalesce(saved_tokens_per_request, 0) else 0 end as cut_tokens
  from v_compaction_costs
),
-- The cost of the compactions that were made, all and those that would be undone.
real_session_cost as (
  select
    session_label,
    count(*) as compactions,
    count(case when is_kept then 1 end) as kept_compactions,
    sum(summarise_cost_usd) as summarise_usd,
    sum(case when not is_kept then summarise_cost_usd end) as undone_summarise_usd,
    sum(case when not is_kept then rebuild_premium_usd end) as undone_premium_usd
  from real_compaction
  group by session_label
),
-- What a compaction on another branch cut is not carried here.
compaction_on_way as (
  select r.session_label, r.turn_id, r.cut_tokens, w.session_label as way_label, w.position
  from real_compaction r
  join v_session_turns w on w.turn_id = r.turn_id
),
-- The tokens that all compactions up to this one have cut, on each way through it.
cut_on_way as (
  select
    session_label, turn_id, way_label,
    sum(cut_tokens) over (
      partition by way_label, session_label order by position rows unbounded preceding
    ) as cut_tokens
  from compaction_on_way
),
-- One way stands for all that lead through a compaction.
undone_cut as (
  select session_label, turn_id, cast(arg_min(cut_tokens, way_label) as bigint) as cut_tokens
  from cut_on_way
  group by session_label, turn_id
),
-- Turns that would have carried again the tokens that were cut before them.
uncut_turn as (
  select u.session_label, t.turn_id, u.cut_tokens
  from undone_cut u
  join v_turn_stretches t on t.compaction_turn_id = u.turn_id
  where u.cut_tokens <> 0
),
-- Each request with the context that it would have had without any compaction.
main_request as (
  select
    r.session_label, r.thread_place, r.context_tokens, r.cost_usd,
    r.context_tokens + coalesce(u.cut_tokens, 0) as whole_tokens,
    r.cache_read_price_usd as read_usd,
    r.output_price_usd as output_usd,
    case when r.cache_write_1h_tokens > 0 then r.cache_write_1h_price_usd else r.cache_write_5m_price_usd end
      as write_usd
  from v_counted_requests r
  left join uncut_turn u on u.turn_id = r.turn_id and u.session_label = r.session_label
  where r.thread_place is not null
),
-- Where rows are put in order, numbers stand for the names of sessions: that is much faster.
session_peak as (
  select
    session_label, max(context_tokens) as peak_tokens, row_number() over (order by session_label) as number
  from main_request
  group by session_label
),
-- Where the context never came near, nothing would be otherwise: most sessions need no more than this.
concerned_session as (
  select z.session_label, z.number
  from session_peak z
  cross join setting s
  left join real_session_cost c on c.session_label = z.session_label
  where c.session_label is not null or (not s.is_never and z.peak_tokens > s.at_tokens)
),
-- Requests of those sessions, by number.
concerned_request as (
  select
    k.number, m.thread_place, m.context_tokens, m.whole_tokens, m.cost_usd, m.read_usd, m.output_usd, m.write_usd
  from concerned_session k
  join main_request m on m.session_label = k.session_label
),
-- The largest context before each request: compactions follow from how far it has grown.
high_before as (
  select
    *,
    coalesce(
      max(whole_tokens) over (
        partition by number order by thread_place rows between unbounded preceding and 1 preceding
      ),
      0
    ) as before_high_tokens
  from concerned_request
),
-- The same, with the request itself.
high_until_now as (
  select *, greatest(before_high_tokens, whole_tokens) as high_tokens from high_before
),
-- The compactions that this growth would have needed until then, with and without the request.
compaction_count as (
  select
    h.*,
    s.at_tokens,
    s.after_tokens,
    s.summary_tokens,
    coalesce(s.rebuild_tokens, s.after_tokens) as rebuild_tokens,
    case when s.at_tokens > s.after_tokens then s.at_tokens - s.after_tokens end as cut_tokens,
    case
      when s.is_never or h.high_tokens <= s.at_tokens then 0
      when s.at_tokens > s.after_tokens
        then 1 + cast(floor(cast(h.high_tokens - s.at_tokens as double) / (s.at_tokens - s.after_tokens)) as bigint)
    end as compactions,
    case
      when s.is_never or h.before_high_tokens <= s.at_tokens then 0
      when s.at_tokens > s.after_tokens
        then 1 + cast(
          floor(cast(h.before_high_tokens - s.at_tokens as double) / (s.at_tokens - s.after_tokens)) as bigint
        )
    end as before_compactions
  from high_until_now h
  cross join setting s
),
-- The context that the request would have carried, and the compactions right before it.
supposed_context as (
  select
    *,
    compactions - before_compactions as new_compactions,
    case
      when compactions = 0 then whole_tokens
      when compactions > 0 then greatest(whole_tokens - compactions * cut_tokens, least(whole_tokens, after_tokens))
    end as then_tokens
  from compaction_count
),
-- The difference in cost, at the request's own prices.
priced_change as (
  select
    *,
    case
      when cost_usd is not null
        then cast(
          cast(then_tokens - context_tokens as decimal(19, 0)) * read_usd
          + case
            when new_compactions > 0
              then cast(new_compactions * at_tokens as decimal(19, 0)) * read_usd
                + cast(new_compactions * summary_tokens as decimal(19, 0)) * output_usd
                + cast(new_compactions * rebuild_tokens as decimal(19, 0)) * (write_usd - read_usd)
            when new_compactions = 0 then 0
          end
          as decimal(38, 12)
        )
    end as more_usd
  from supposed_context
),
-- One row for each session; a sum is unknown as soon as one of its requests is.
session_totals as (
  select
    number,
    count(*) as requests,
    count(*) - count(cost_usd) as unpriced_requests,
    case when count(*) = count(compactions) then max(compactions) end as compactions_then,
    max(context_tokens) as peak_now_tokens,
    case when count(*) = count(then_tokens) then max(then_tokens) end as peak_then_tokens,
    sum(cost_usd) as cost_usd,
    case when count(cost_usd) = count(more_usd) then sum(more_usd) end as more_usd
  from priced_change
  group by number
)
select
  z.session_label,
  s.requests,
  s.unpriced_requests,
  coalesce(c.compactions, 0) as compactions_now,
  s.compactions_then + coalesce(c.kept_compactions, 0) as compactions_then,
  s.peak_now_tokens,
  s.peak_then_tokens,
  cast(s.cost_usd + coalesce(c.summarise_usd, 0) as decimal(38, 12)) as cost_now_usd,
  cast(
    s.cost_usd + coalesce(c.summarise_usd, 0)
    + (s.more_usd - coalesce(c.undone_summarise_usd, 0) - coalesce(c.undone_premium_usd, 0))
    as decimal(38, 12)
  ) as cost_then_usd,
  cast(s.more_usd - coalesce(c.undone_summarise_usd, 0) - coalesce(c.undone_premium_usd, 0) as decimal(38, 12))
    as difference_usd,
  'estimated' as basis
from session_totals s
join session_peak z on z.number = s.number
left join real_session_cost c on c.session_label = z.session_label
order by difference_usd, z.session_label
