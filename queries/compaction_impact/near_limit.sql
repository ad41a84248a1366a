-- title: Long contexts that were never compacted
-- question: Which sessions worked near the context's limit?
-- why: Each request there reads almost a whole window, and the next step may not fit.
-- grain: session
-- params: filters
-- param share: number = 0.85; share of the limit from which a context is near it
-- param window: integer = 200000; size of the context window where no source says it
-- column session_label: VARCHAR; the session
-- column title: VARCHAR; its title, else the task that a subagent was given, else the beginning of its first prompt
-- column project: VARCHAR; the project of its largest request
-- column model: VARCHAR; the model of its largest request
-- column limit_tokens: BIGINT; size of the context window
-- column limit_basis: VARCHAR; reported by the source, else estimated
-- column peak_tokens: BIGINT; reported: largest whole input among these requests
-- column peak_share: DOUBLE; computed: that as a share of the limit
-- column peak_at: BIGINT; when that request was made, in Unix ms
-- column first_at: BIGINT; the first request near the limit, in Unix ms
-- column requests: BIGINT; requests near the limit that no compaction came after
-- column cost_usd: DECIMAL(38,12); computed: what these requests cost; NULL when none has a price
-- column carry_cost_usd: DECIMAL(38,12); computed: the part of that for reading the context from the cache
-- column unpriced_requests: BIGINT; requests among them without a price
-- shown: session_label, peak_tokens, peak_share, title, limit_tokens, cost_usd, carry_cost_usd, peak_at, model
-- empty: No session worked near the limit of its context without a compaction.
-- next: --param share=0.5 asks for half of the limit
-- caveat: Where no source says the limit, it is the parameter's, and 1,000,000 in a session with a context above that.
-- caveat: A request counts when no compaction lies on any way on from its turn.
with main_request as (
  select
    request_id, turn_id, session_label, project, model, requested_at, context_tokens, cost_usd, cache_read_cost_usd
  from v_counted_requests
  where kind = 'main' and context_tokens is not null
),
-- A window is inferred from all of a session, whatever of it is counted.
session_peak as (
  select session_label, max(context_tokens) as peak_tokens from v_requests where kind = 'main' group by session_label
),
session_limit as (
  select
    s.session_label,
    x.title,
    coalesce(
      c.context_token_limit,
      case
        when s.peak_tokens > coalesce(getvariable('window'), 200000) then 1000000
        else coalesce(getvariable('window'), 200000)
      end
    ) as limit_tokens,
    case when c.context_token_limit is not null then 'reported' else 'estimated' end as limit_basis,
    s.peak_tokens
  from session_peak s
  left join session_context c on c.label = s.session_label
  left join v_session_titles x on x.session_label = s.session_label
),
session_near_limit as (
  select session_label, title, limit_tokens, limit_basis
  from session_limit
  where peak_tokens > coalesce(getvariable('share'), 0.85) * limit_tokens
),
compacted_turn as (
  select turn_id from v_compaction_turns where distance < 0 group by turn_id
),
request_near_limit as (
  select
    m.*,
    n.title,
    n.limit_tokens,
    n.limit_basis,
    row_number() over (
      partition by m.session_label order by m.context_tokens desc, m.requested_at, m.request_id
    ) as place
  from session_near_limit n
  join main_request m on m.session_label = n.session_label
  left join compacted_turn c on c.turn_id = m.turn_id
  where c.turn_id is null and m.context_tokens > coalesce(getvariable('share'), 0.85) * n.limit_tokens
)
select
  session_label,
  title,
  max(case when place = 1 then project end) as project,
  max(case when place = 1 then model end) as model,
  cast(limit_tokens as bigint) as limit_tokens,
  limit_basis,
  max(context_tokens) as peak_tokens,
  cast(max(context_tokens) as double) / nullif(cast(limit_tokens as double), 0) as peak_share,
  max(case when place = 1 then requested_at end) as peak_at,
  min(requested_at) as first_at,
  count(*) as requests,
  sum(cost_usd) as cost_usd,
  sum(case when cost_usd is not null then cache_read_cost_usd end) as carry_cost_usd,
  count(*) - count(cost_usd) as unpriced_requests
from request_near_limit
group by session_label, title, limit_tokens, limit_basis
order by carry_cost_usd desc nulls last, peak_tokens desc, session_label
