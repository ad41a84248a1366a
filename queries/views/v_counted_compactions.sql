-- title: The compactions that a question counts
-- question: Which compactions fall into the time, project, origin, model, session and tag that were asked for?
-- why: Every figure of compactions is made of these rows, so that the same filters mean the same everywhere.
-- grain: compaction
-- params: filters
-- column turn_id: VARCHAR; the compaction's turn
-- column session_label: VARCHAR; the session it counts for
-- column origin: VARCHAR; where that session came from
-- column is_subagent: BOOLEAN; whether that session is a subagent's
-- column workspace_path: VARCHAR; the root folder of the workspace
-- column session_project: VARCHAR; the project that the session names
-- column client_version: VARCHAR; version of the tool that wrote the log
-- column compacted_at: BIGINT; when, in Unix ms
-- column trigger: VARCHAR; why: context_limit, manual, periodic; NULL when the log does not say
-- column compaction_type: VARCHAR; the strategy
-- column evidence: VARCHAR; how the log shows it: boundary, summary_only, cursor_summary
-- column is_unresolved: BOOLEAN; whether the history it summarises is not on disk
-- column is_mid_task: BOOLEAN; whether it cut a turn that went on after it, else it stands between two turns
-- column model: VARCHAR; the model that summarised; unknown when nothing tells
-- column is_model_inferred: BOOLEAN; whether that is only the model of the request before
-- column tokens_before: BIGINT; whole context before
-- column tokens_before_basis: VARCHAR; stated by the log, or reported where it is only the last request's before
-- column tokens_after: BIGINT; whole context after: of the next request, else as stated for the whole; NULL when unknown
-- column tokens_after_basis: VARCHAR; reported by the next request; reported_later where another compaction comes before it; else stated
-- column messages_tokens_after: BIGINT; what the log states for the messages alone, without system prompt and tools
-- column turns_summarized: BIGINT; turns that the summary covers
-- column kept_turns: BIGINT; turns before it that were kept as they were
-- column duration_ms: BIGINT; how long it took
-- column is_duration_upper_bound: BOOLEAN; whether the time includes what the user waited before
-- column summary_chars: BIGINT; length of the summary
-- column summary_tokens: BIGINT; tokens of the summary
-- column is_summary_estimated: BOOLEAN; whether these are estimated from the length
-- column summariser_requests: BIGINT; requests of the summarising call that are in a log of its own
-- column summariser_cost_usd: DECIMAL(38,12); their cost; NULL when there are none or one has no price
-- column before_request_id: VARCHAR; the last request before it
-- column before_session_label: VARCHAR; the session which that counts for
-- column before_requested_at: BIGINT; when that was made, in Unix ms
-- column before_context_tokens: BIGINT; whole input of that request
-- column before_model: VARCHAR; its model
-- column before_cache_read_price_usd: DECIMAL(18,12); list price of a token read from the cache, at that request
-- column before_output_price_usd: DECIMAL(18,12); list price of an output token, at that request
-- column after_request_id: VARCHAR; the first request after it
-- column after_requested_at: BIGINT; when that was made, in Unix ms
-- column after_context_tokens: BIGINT; whole input of that request
-- column after_model: VARCHAR; its model
-- column after_cache_read_tokens: BIGINT; what it read from the cache
-- column after_cache_write_5m_tokens: BIGINT; what it wrote to the cache for 5 minutes
-- column after_cache_write_1h_tokens: BIGINT; what it wrote to the cache for 1 hour
-- column after_cache_read_price_usd: DECIMAL(18,12); list price of a token read from the cache, at that request
-- column after_cache_write_5m_price_usd: DECIMAL(18,12); list price of a token written for 5 minutes
-- column after_cache_write_1h_price_usd: DECIMAL(18,12); list price of a token written for 1 hour
-- column requests_after: BIGINT; requests of kind main with usage after it, until the next compaction
-- column turns_after: BIGINT; turns after it, until the next compaction
-- column last_requested_at: BIGINT; when the last of these requests was made, in Unix ms
-- column next_compaction_turn_id: VARCHAR; the next compaction on the way on; the earliest where ways part
-- column next_compacted_at: BIGINT; when that was, in Unix ms
-- column project: VARCHAR; the project of its turn, else of its session
select r.*, coalesce(w.project, r.workspace_path, r.session_project) as project
from v_compactions r
left join v_workspaces w on w.workspace_path = r.workspace_path
left join v_tagged t on t.entity_type = 'turns' and t.entity_id = r.turn_id
left join v_tagged s on s.entity_type = 'sessions' and s.entity_id = r.session_label
where (getvariable('since') is null or r.compacted_at >= getvariable('since'))
  and (getvariable('until') is null or r.compacted_at < getvariable('until'))
  and (getvariable('model') is null or contains(lower(r.model), lower(getvariable('model'))))
  and (getvariable('origin') is null or r.origin = getvariable('origin'))
  and (getvariable('session') is null or r.session_label = getvariable('session'))
  and (
    getvariable('project') is null
    or contains(lower(coalesce(w.project, r.workspace_path, r.session_project)), lower(getvariable('project')))
  )
  and (getvariable('tag') is null or t.entity_id is not null or s.entity_id is not null)
