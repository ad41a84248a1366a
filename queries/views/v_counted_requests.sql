-- title: The requests that a question counts
-- question: Which requests fall into the time, project, origin, model, session and tag that were asked for?
-- why: Every figure of cost is a sum over these rows, so that the same filters mean the same everywhere.
-- grain: request
-- params: filters
-- column request_id: VARCHAR; the request
-- column turn_id: VARCHAR; the turn it served; NULL for side calls
-- column message_id: VARCHAR; the message it gave
-- column origin_message_id: VARCHAR; the API's own id of the message
-- column seq: BIGINT; place among the requests of the turn
-- column requested_at: BIGINT; when it was made, in Unix ms
-- column kind: VARCHAR; what it was for: main, advisor, compaction, side
-- column model: VARCHAR; the model the request named
-- column provider: VARCHAR; the vendor of the API
-- column variant: VARCHAR; how it was served: standard, batch, priority, flex, fast
-- column git_branch: VARCHAR; the branch checked out at the time
-- column cwd: VARCHAR; the working folder at the time
-- column stop_reason: VARCHAR; why the model stopped
-- column latency_ms: BIGINT; how long the answer took
-- column input_tokens: BIGINT; uncached input
-- column output_tokens: BIGINT; output as reported
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_tokens: BIGINT; input written to the cache
-- column cache_write_5m_tokens: BIGINT; the part kept for 5 minutes, with what the log does not split
-- column cache_write_1h_tokens: BIGINT; the part kept for 1 hour
-- column reasoning_tokens: BIGINT; thinking, where it is counted apart
-- column context_tokens: BIGINT; whole input: uncached, read from and written to the cache
-- column web_search_count: BIGINT; searches the vendor ran
-- column estimated_output_tokens: BIGINT; output estimated from the length of what was written
-- column likely_output_tokens: BIGINT; as reported, or the estimate where that is larger and the report not final
-- column is_usage_final: BOOLEAN; whether the reported output is the final count
-- column is_ttl_assumed: BOOLEAN; whether cache writes were taken as 5-minute ones because the log does not say
-- column has_usage: BOOLEAN; whether any tokens are reported
-- column input_price_usd: DECIMAL(18,12); list price of an input token
-- column output_price_usd: DECIMAL(18,12); list price of an output token
-- column cache_read_price_usd: DECIMAL(18,12); list price of a token read from the cache
-- column cache_write_5m_price_usd: DECIMAL(18,12); list price of a token written for 5 minutes
-- column cache_write_1h_price_usd: DECIMAL(18,12); list price of a token written for 1 hour
-- column input_cost_usd: DECIMAL(38,12); cost of uncached input
-- column output_cost_usd: DECIMAL(38,12); cost of output
-- column cache_read_cost_usd: DECIMAL(38,12); cost of cache reads
-- column cache_write_5m_cost_usd: DECIMAL(38,12); cost of 5-minute writes
-- column cache_write_1h_cost_usd: DECIMAL(38,12); cost of 1-hour writes
-- column web_search_cost_usd: DECIMAL(38,12); cost of searches
-- column cost_usd: DECIMAL(38,12); computed at list price from the reported tokens; NULL without price or usage
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column reported_cost_usd: DECIMAL(38,12); what the source itself says it cost
-- column price_basis: VARCHAR; whether the cost is computed or estimated, and on which price; NULL without a price
-- column session_label: VARCHAR; the session it counts for: the owner of its turn, else the one that made it
-- column origin: VARCHAR; where that session came from
-- column role: VARCHAR; what kind of agent made it: unified, manager, worker
-- column turn_status: VARCHAR; how far its turn came
-- column situation: VARCHAR; the named set of parameters in force
-- column workspace_path: VARCHAR; the root folder of its turn's workspace
-- column session_project: VARCHAR; the project that its session names
-- column is_unpriced: BOOLEAN; whether tokens are reported that have no price
-- column unpriced_tokens: BIGINT; its tokens where they have no price
-- column has_final_usage: BOOLEAN; whether tokens are reported and the output is the final count
-- column first_tool_name: VARCHAR; the first tool that its message calls
-- column denied_calls: BIGINT; calls of its message that were denied
-- column repeated_calls: BIGINT; calls of its message that repeat one of the session with the same parameters
-- column thinking_chars: BIGINT; length of the thinking in its message
-- column answer_chars: BIGINT; length of its message's text where that is the answer of the turn
-- column waited_ms: BIGINT; time since the message before, which the model answered
-- column thread_place: BIGINT; its place among the requests of kind main with usage of its session, by time; NULL for others
-- column gap_ms: BIGINT; time since the request before it
-- column before_requested_at: BIGINT; when the request before it was made, in Unix ms
-- column before_model: VARCHAR; the model of the request before
-- column before_context_tokens: BIGINT; whole input of the request before
-- column before_write_5m_tokens: BIGINT; what the request before wrote to the cache for 5 minutes
-- column before_write_1h_tokens: BIGINT; what the request before wrote to the cache for 1 hour
-- column later_requests: BIGINT; requests of the session after it, until the next compaction
-- column later_read_usd: DECIMAL(38,12); their prices of one token read from the cache, summed; NULL when none has a price
-- column project: VARCHAR; the project of its turn, else of its session
-- column quarter_hour: BIGINT; quarters of an hour since 1970, of which every time zone's days are made; NULL without a time
-- caveat: What a parent only says in total of a subagent whose log is gone is no request, and is left out.
select
  r.* exclude (quarter_hour),
  coalesce(w.project, r.workspace_path, r.session_project) as project,
  case when i.row_key is null then r.quarter_hour end as quarter_hour
from v_requests r
left join v_workspaces w on w.workspace_path = r.workspace_path
left join inferred_values i
  on i.table_name = 'requests' and i.row_key = r.request_id and i.column_name = 'requested_at' and i.basis = 'undated'
left join v_tagged t on t.entity_type = 'turns' and t.entity_id = r.turn_id
left join v_tagged s on s.entity_type = 'sessions' and s.entity_id = r.session_label
where (getvariable('since') is null or (i.row_key is null and r.requested_at >= getvariable('since')))
  and (getvariable('until') is null or (i.row_key is null and r.requested_at < getvariable('until')))
  and (getvariable('model') is null or contains(lower(r.model), lower(getvariable('model'))))
  and (getvariable('origin') is null or r.origin = getvariable('origin'))
  and (getvariable('session') is null or r.session_label = getvariable('session'))
  and (
    getvariable('project') is null
    or contains(lower(coalesce(w.project, r.workspace_path, r.session_project)), lower(getvariable('project')))
  )
  and (getvariable('tag') is null or t.entity_id is not null or s.entity_id is not null)
