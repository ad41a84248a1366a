-- title: Cost of compactions
-- question: What did each compaction cost?
-- why: No tool shows this: the call is in few logs, and the rebuilt cache hides in the next request.
-- grain: compaction
-- params: filters
-- column compacted_at: BIGINT; when, in Unix ms
-- column session_label: VARCHAR; the session it counts for
-- column turn_id: VARCHAR; the compaction's turn
-- column project: VARCHAR; the project of its turn, else of its session
-- column trigger: VARCHAR; why: context_limit, manual, periodic; NULL when the log does not say
-- column model: VARCHAR; the model that summarised; unknown when nothing tells
-- column tokens_before: BIGINT; whole context before
-- column summary_tokens: BIGINT; tokens of the summary
-- column summarise_cost_usd: DECIMAL(38,12); cost of the summarising call; NULL without a price
-- column summarise_basis: VARCHAR; computed from the call's own log, else estimated; NULL without a cost
-- column rebuild_tokens: BIGINT; reported: what the first request after it wrote to the cache; NULL without such a request
-- column rebuild_cost_usd: DECIMAL(38,12); computed: these tokens at the price of writing
-- column rebuild_premium_usd: DECIMAL(38,12); computed: the part of that beyond the price of reading them
-- column total_usd: DECIMAL(38,12); summarising call and premium; NULL when either is unknown
-- column basis: VARCHAR; of the total: computed, or estimated where the summarising call is; NULL without a total
-- shown: turn_id, compacted_at, total_usd, summarise_cost_usd, rebuild_premium_usd, tokens_before, summary_tokens, rebuild_tokens, session_label, trigger, model
-- empty: No compaction yet.
-- next: `aix query break_even` shows which have paid for themselves
-- caveat: The total has the premium, not the whole rebuild: what a context still holds would have been read anyway.
-- caveat: An estimated call reads the whole context from the cache, and writes the summary, at the prices of the request before.
-- caveat: The request after also writes what is new since the compaction, such as a prompt: the rebuild is an upper bound.
select
  compacted_at,
  session_label,
  turn_id,
  project,
  trigger,
  model,
  tokens_before,
  summary_tokens,
  summarise_cost_usd,
  summarise_basis,
  rebuild_tokens,
  rebuild_cost_usd,
  rebuild_premium_usd,
  total_usd,
  basis
from v_compaction_costs
order by compacted_at, turn_id
