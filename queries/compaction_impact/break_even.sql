-- title: Break-even of compactions
-- question: Has a compaction paid for itself, and how soon?
-- why: A compaction shortly before the end of a session costs more than it saves.
-- grain: compaction
-- params: filters
-- column compacted_at: BIGINT; when, in Unix ms
-- column session_label: VARCHAR; the session it counts for
-- column turn_id: VARCHAR; the compaction's turn
-- column project: VARCHAR; the project of its turn, else of its session
-- column trigger: VARCHAR; why: context_limit, manual, periodic; NULL when the log does not say
-- column model: VARCHAR; the model that summarised; unknown when nothing tells
-- column total_usd: DECIMAL(38,12); what it cost, as in cost; NULL when unknown
-- column saved_tokens_per_request: BIGINT; context before less after; 0 or less when nothing is saved; NULL when unknown
-- column saved_per_request_usd: DECIMAL(38,12); these tokens at the price of reading from the cache, at the request after
-- column requests_to_break_even: BIGINT; requests that save as much as it cost; NULL when nothing is saved, or unknown
-- column requests_after: BIGINT; requests that really followed until the next compaction or the end
-- column net_usd: DECIMAL(38,12); what these saved less the cost; NULL when unknown
-- column is_paid_back: BOOLEAN; whether that is 0 or more
-- column basis: VARCHAR; of cost and net: computed, or estimated where the summarising call is; NULL when unknown
-- shown: turn_id, compacted_at, net_usd, is_paid_back, total_usd, requests_to_break_even, requests_after, session_label, trigger, model, project
-- empty: No compaction yet.
-- next: `aix compactions TURN` shows one compaction in detail
-- caveat: Without the compaction each later request is taken to carry as many tokens more as were cut, read from the cache.
-- caveat: A context at its limit could not have gone on: what is saved then is no choice between two ways.
-- caveat: What the model forgot and did again is not counted here.
-- references: docs/compaction.md#method; requests to break even
with cost_quotient as (
  select
    *,
    case
      when saved_per_request_usd > 0
        then cast(floor(cast(total_usd as double) / cast(saved_per_request_usd as double)) as bigint)
    end as whole
  from v_compaction_costs
)
select
  compacted_at,
  session_label,
  turn_id,
  project,
  trigger,
  model,
  total_usd,
  saved_tokens_per_request,
  saved_per_request_usd,
  -- The quotient of doubles may lie a hair off a whole number; money decides.
  case when saved_per_request_usd * cast(whole as decimal(18, 0)) >= total_usd then whole else whole + 1 end
    as requests_to_break_even,
  requests_after,
  net_usd,
  is_paid_back,
  basis
from cost_quotient
order by compacted_at, turn_id
