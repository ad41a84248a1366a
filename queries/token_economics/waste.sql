-- title: Waste
-- question: How much was spent without a result, and on what?
-- why: Each class has a remedy of its own: permissions, prompts, shorter pauses, smaller steps.
-- grain: class of waste
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column class: VARCHAR; failed_turn, interrupted_turn, abandoned_branch, denied_call, repeated_call, cache_loss, api_error_retry
-- column counted: VARCHAR; what the figures of this class count
-- column turns: BIGINT; turns of these requests
-- column requests: BIGINT; requests
-- column calls: BIGINT; tool calls, in the classes that are about calls
-- column cost_usd: DECIMAL(38,12); list price; NULL when nothing of it is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column final_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- caveat: Classes overlap (a denied call in a failed turn counts in both): never add them up.
-- caveat: Work in a failed or abandoned turn may have been of use, and a repeated call may have been needed: upper bounds.
-- caveat: A denied or repeated call stands for the whole request that made it.
-- caveat: Cache loss counts what the tokens cost beyond reading them from the cache, after a pause longer than the cache lives.
with counted as (
  select
    r.request_id, r.turn_id, r.message_id, r.requested_at, r.seq, r.turn_status, r.kind, r.model, r.session_label,
    r.context_tokens, r.cache_read_tokens, r.cache_write_1h_tokens, r.cache_write_5m_tokens,
    r.input_price_usd, r.cache_read_price_usd, r.cache_write_5m_price_usd, r.cache_write_1h_price_usd,
    r.output_tokens, r.is_usage_final, r.cost_usd, r.cost_estimated_usd
  from v_counted_requests r
),
denied as (
  select c.message_id, count(*) as calls
  from permission_decisions d
  join tool_calls c on c.id = d.call_id
  where d.outcome in ('not_granted', 'denied_directory', 'denied_mode', 'denied_hook', 'denied_rule', 'denied_user')
  group by c.message_id
),
repeated as (
  select message_id, count(*) as calls from v_repeated_calls group by message_id
),
paused as (
  select
    request_id,
    lag(requested_at) over thread as before_requested_at,
    lag(model) over thread as before_model,
    lag(context_tokens) over thread as before_context_tokens,
    lag(cache_write_1h_tokens) over thread as before_write_1h_tokens
  from counted
  where kind = 'main' and context_tokens is not null
  window thread as (partition by session_label order by requested_at, seq, request_id)
),
cold as (
  select
    c.request_id,
    least(p.before_context_tokens, c.context_tokens) - coalesce(c.cache_read_tokens, 0) as lost_tokens,
    case
      when c.cache_write_1h_tokens > 0 then c.cache_write_1h_price_usd
      when c.cache_write_5m_tokens > 0 then c.cache_write_5m_price_usd
      else c.input_price_usd
    end - c.cache_read_price_usd as premium_usd
  from paused p
  join counted c on c.request_id = p.request_id
  where p.before_model = c.model
    and c.requested_at - p.before_requested_at
      > case when p.before_write_1h_tokens > 0 then 3600000 else 300000 end
    and least(p.before_context_tokens, c.context_tokens) - coalesce(c.cache_read_tokens, 0) >= 1024
),
error as (
  select o.session_label, m.id, m.created_at as happened_at
  from message_facts f
  join messages m on m.id = f.message_id
  join v_turn_owner o on o.turn_id = m.turn_id
  where f.is_error
),
event as (
  select session_label, happened_at, 0 as rank, cast(0 as bigint) as seq, id, cast(null as varchar) as request_id from error
  union all
  select c.session_label, c.requested_at, 1, c.seq, c.request_id, c.request_id
  from (select distinct session_label from error) e
  join counted c on c.session_label = e.session_label
  where c.kind = 'main'
),
followed as (
  select id, request_id, lag(rank) over (partition by session_label order by happened_at, rank, seq, id) as rank_before
  from event
),
flagged as (
  select
    c.turn_id, c.output_tokens, c.is_usage_final, c.cost_usd, c.cost_estimated_usd,
    coalesce(c.turn_status = 'failed' and not coalesce(t.is_interrupted, false), false) as is_failed,
    coalesce(t.is_interrupted, false) as is_interrupted,
    a.turn_id is not null as is_abandoned,
    d.calls as denied_calls,
    r.calls as repeated_calls,
    l.lost_tokens,
    cast(l.lost_tokens * l.premium_usd as decimal(38, 12)) as lost_usd,
    f.request_id is not null as is_retry
  from counted c
  left join turn_context t on t.turn_id = c.turn_id
  left join v_abandoned_turns a on a.turn_id = c.turn_id
  left join denied d on d.message_id = c.message_id
  left join repeated r on r.message_id = c.message_id
  left join cold l on l.request_id = c.request_id
  left join followed f on f.request_id = c.request_id and f.rank_before = 0
)
select
  k.class,
  k.counted,
  count(distinct f.turn_id) as turns,
  count(f.is_failed) as requests,
  cast(sum(case k.class when 'denied_call' then f.denied_calls when 'repeated_call' then f.repeated_calls end) as bigint)
    as calls,
  sum(case when k.class = 'cache_loss' then f.lost_usd else f.cost_usd end) as cost_usd,
  sum(case when k.class = 'cache_loss' then f.lost_usd else f.cost_estimated_usd end) as cost_estimated_usd,
  cast(coalesce(sum(case when f.is_usage_final then f.output_tokens end), 0) as double)
    / nullif(cast(sum(f.output_tokens) as double), 0) as final_share
from (
  values
    (1, 'failed_turn', 'all requests of turns that failed and were not interrupted'),
    (2, 'interrupted_turn', 'all requests of turns that the user or a hook stopped'),
    (3, 'abandoned_branch', 'all requests of turns that no active session builds on'),
    (4, 'denied_call', 'requests that asked for a call that was denied'),
    (5, 'repeated_call', 'requests that made a call again with the same parameters in the same session'),
    (6, 'cache_loss', 'requests after a pause longer than the cache lives, and the price of caching again what was lost'),
    (7, 'api_error_retry', 'the first request after an API error')
) as k (place, class, counted)
left join flagged f on case k.class
  when 'failed_turn' then f.is_failed
  when 'interrupted_turn' then f.is_interrupted
  when 'abandoned_branch' then f.is_abandoned
  when 'denied_call' then f.denied_calls > 0
  when 'repeated_call' then f.repeated_calls > 0
  when 'cache_loss' then f.lost_tokens > 0
  when 'api_error_retry' then f.is_retry
end
group by k.place, k.class, k.counted
order by k.place
