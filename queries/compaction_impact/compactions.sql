-- title: Compactions
-- question: When and why was a context compacted, and how far?
-- why: The list that all other figures of compactions start from.
-- grain: compaction
-- params: filters
-- column compacted_at: BIGINT; when, in Unix ms
-- column session_label: VARCHAR; the session it counts for
-- column turn_id: VARCHAR; the compaction's turn
-- column project: VARCHAR; the project of its turn, else of its session
-- column origin: VARCHAR; where that session came from
-- column client_version: VARCHAR; version of the tool that wrote the log
-- column trigger: VARCHAR; why: context_limit, manual, periodic; NULL when the log does not say
-- column compaction_type: VARCHAR; the strategy
-- column evidence: VARCHAR; how the log shows it: boundary, summary_only, cursor_summary
-- column is_unresolved: BOOLEAN; whether the history it summarises is not on disk
-- column is_mid_task: BOOLEAN; whether it cut a turn that went on after it, else it stands between two turns
-- column is_subagent: BOOLEAN; whether the session is a subagent's
-- column model: VARCHAR; the model that summarised; unknown when nothing tells
-- column is_model_inferred: BOOLEAN; whether that is only the model of the request before
-- column tokens_before: BIGINT; whole context before; NULL when unknown
-- column tokens_before_basis: VARCHAR; stated by the log, or reported where it is only the last request's before
-- column tokens_after: BIGINT; whole context after; NULL when unknown
-- column tokens_after_basis: VARCHAR; reported by the next request; reported_later where another compaction comes before it; else stated
-- column messages_tokens_after: BIGINT; what the log states for the messages alone, without system prompt and tools
-- column reduction: DOUBLE; computed: 1 - after / before; below 0 when the context grew; NULL when unknown
-- column turns_summarized: BIGINT; turns that the summary covers
-- column kept_turns: BIGINT; turns before it that were kept as they were
-- column summary_tokens: BIGINT; tokens of the summary
-- column summary_tokens_basis: VARCHAR; reported, or estimated from the length of the summary
-- column duration_ms: BIGINT; how long it took; NULL when unknown
-- column duration_basis: VARCHAR; reported, or computed since the record before: then an upper bound
-- column turns_after: BIGINT; turns after it, until the next compaction or the end
-- column requests_after: BIGINT; requests of kind main with usage after it, until the next compaction or the end
-- column minutes_to_next: DOUBLE; minutes until the next compaction; NULL when there is none
-- column tokens_to_next: BIGINT; by how much the context grew until then
-- shown: turn_id, compacted_at, trigger, tokens_before, tokens_after, reduction, requests_after, session_label, is_mid_task, model, project
-- empty: No compaction yet.
-- next: `aix compactions TURN` shows one compaction in detail
-- caveat: Micro-compactions are no turns and stand in a list of their own, micro_compactions.
-- caveat: No log states the messages alone before a compaction; where it states a figure before, that is the whole context.
select
  c.compacted_at,
  c.session_label,
  c.turn_id,
  c.project,
  c.origin,
  c.client_version,
  c.trigger,
  c.compaction_type,
  c.evidence,
  c.is_unresolved,
  c.is_mid_task,
  c.is_subagent,
  c.model,
  c.is_model_inferred,
  c.tokens_before,
  c.tokens_before_basis,
  c.tokens_after,
  c.tokens_after_basis,
  c.messages_tokens_after,
  1 - cast(c.tokens_after as double) / nullif(cast(c.tokens_before as double), 0) as reduction,
  c.turns_summarized,
  c.kept_turns,
  c.summary_tokens,
  case
    when c.summary_tokens is null then null when c.is_summary_estimated then 'estimated' else 'reported'
  end as summary_tokens_basis,
  c.duration_ms,
  case
    when c.duration_ms is null then null when c.is_duration_upper_bound then 'computed' else 'reported'
  end as duration_basis,
  c.turns_after,
  c.requests_after,
  cast(c.next_compacted_at - c.compacted_at as double) / 60000 as minutes_to_next,
  n.tokens_before - c.tokens_after as tokens_to_next
from v_counted_compactions c
left join v_compactions n on n.turn_id = c.next_compaction_turn_id
order by c.compacted_at, c.turn_id
