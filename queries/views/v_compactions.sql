-- title: Each compaction with the requests around it
-- question: What was the context before and after a compaction, who summarised, and which requests followed?
-- why: All figures of compactions are made of these rows; to find them takes longer than to add them up.
-- grain: compaction
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
-- caveat: Of two compactions in a row within one turn only the first counts as mid-task.
-- caveat: Counts above a million million tokens are taken for unknown.
-- caveat: The log of a summarising call exists for few compactions; elsewhere its cost can only be estimated.
-- references: docs/compaction.md#what-counts-as-one; the kinds of evidence
-- references: docs/compaction.md#method; the context before and after
-- kept: by family with compactions

-- Compactions that cut a turn: a later turn goes on with the one before them.
with mid_task_compaction as (
  select c.turn_id
  from compactions c
  join turns t on t.id = c.turn_id
  join turn_context p on p.turn_id = t.parent_turn_id and p.continued_by_turn_id is not null
  join threads h on h.turn_id = p.continued_by_turn_id
  where contains(h.ancestry, c.turn_id)
),
-- Compactions with their session and time, without sizes that cannot be.
placed_compaction as (
  select
    c.* exclude (tokens_before, tokens_after),
    case when c.tokens_before between 0 and 1000000000000 then c.tokens_before end as tokens_before,
    -- What is stated for the messages alone is no whole context.
    case
      when c.tokens_after between 0 and 1000000000000
        and coalesce(json_extract_string(c.metadata_json, '$.tokens_after_basis'), '') <> 'postTokens'
        then c.tokens_after
    end as tokens_after,
    o.session_label,
    t.started_at as compacted_at,
    t.parent_turn_id,
    t.workspace_path,
    x.client_version,
    x.origin,
    m.turn_id is not null as is_mid_task
  from compactions c
  join turns t on t.id = c.turn_id
  left join turn_context x on x.turn_id = c.turn_id
  left join mid_task_compaction m on m.turn_id = c.turn_id
  left join v_turn_owner o on o.turn_id = c.turn_id
),
-- Requests that carry a context.
thread_request as (
  select * from v_requests where kind = 'main' and has_usage
),
-- Requests before a compaction, the nearest first.
earlier_request as (
  select
    c.turn_id as compaction_turn_id,
    r.*,
    row_number() over (
      partition by c.turn_id
      order by
        case when r.turn_id = c.parent_turn_id then 0 when k.turn_id is not null then 1 else 2 end,
        k.distance desc,
        r.requested_at desc,
        r.seq desc,
        r.request_id desc
    ) as place
  from placed_compaction c
  join v_turn_owner o on o.turn_id = c.parent_turn_id
  join thread_request r on r.session_label = o.session_label
  left join v_compaction_turns k
    on k.compaction_turn_id = c.turn_id and k.turn_id = r.turn_id and k.distance < 0
  where r.requested_at <= c.compacted_at
),
-- The order is that of v_compaction_requests, which has more to do: without kept rows it would be made twice here.
later_request as (
  select
    k.compaction_turn_id,
    r.*,
    row_number() over (
      partition by k.compaction_turn_id order by k.distance, r.seq, r.requested_at, r.request_id
    ) as place
  from v_compaction_turns k
  join thread_request r on r.turn_id = k.turn_id
  where k.distance > 0
),
-- How many there are until the next compaction.
later_request_count as (
  select compaction_turn_id, count(*) as requests, max(requested_at) as last_requested_at
  from later_request
  group by compaction_turn_id
),
-- The same for turns.
turn_after_count as (
  select
    compaction_turn_id,
    count(case when distance > 0 then 1 end) as turns_after
  from v_compaction_turns
  group by compaction_turn_id
),
-- Turns that stay in the context as they are.
kept_turn_count as (
  select c.turn_id, count(*) as turns
  from placed_compaction c
  join v_compaction_turns k on k.compaction_turn_id = c.turn_id and k.distance < 0
  join v_compaction_turns f on f.compaction_turn_id = c.turn_id and f.turn_id = c.first_kept_turn_id
  where k.distance >= f.distance
  group by c.turn_id
),
-- The requests that wrote the summary, where their log is on disk, and their cost if all have one.
summarising_request_count as (
  select
    turn_id,
    count(*) as requests,
    case when count(cost_usd) = count(*) then sum(cost_usd) end as cost_usd
  from v_requests
  where kind = 'compaction' and turn_id is not null
  group by turn_id
),
-- The compactions that come next on the branches from here, the first one first.
following_compaction as (
  select
    s.compaction_turn_id,
    n.turn_id,
    n.compacted_at,
    row_number() over (partition by s.compaction_turn_id order by n.compacted_at, n.turn_id) as place
  from placed_compaction n
  join v_turn_stretches s on s.turn_id = n.turn_id
)
select
  c.turn_id,
  c.session_label,
  coalesce(s.origin, c.origin) as origin,
  coalesce(s.is_subagent = 1, false) as is_subagent,
  c.workspace_path,
  x.project as session_project,
  c.client_version,
  c.compacted_at,
  c.trigger,
  c.compaction_type,
  case
    when coalesce(s.origin, c.origin) = 'cursor' then 'cursor_summary'
    when json_extract_string(c.metadata_json, '$.compactMetadata') is not null then 'boundary'
    else 'summary_only'
  end as evidence,
  coalesce(json_extract_string(c.metadata_json, '$.unresolved') = 'true', false) as is_unresolved,
  c.is_mid_task,
  c.model,
  coalesce(json_extract_string(c.metadata_json, '$.model_inferred') = 'true', false) as is_model_inferred,
  c.tokens_before,
  case
    when c.tokens_before is null then null
    when json_extract_string(c.metadata_json, '$.tokens_before_basis') = 'last_context' then 'reported'
    else 'stated'
  end as tokens_before_basis,
  coalesce(c.tokens_after, a.context_tokens) as tokens_after,
  case
    when coalesce(c.tokens_after, a.context_tokens) is null then null
    when coalesce(c.tokens_after, a.context_tokens) = a.context_tokens then 'reported'
    when a.request_id is null and f.turn_id is not null then 'reported_later'
    else 'stated'
  end as tokens_after_basis,
  try_cast(json_extract_string(c.metadata_json, '$.compactMetadata.postTokens') as bigint) as messages_tokens_after,
  c.turns_summarized,
  coalesce(k.turns, 0) as kept_turns,
  c.duration_ms,
  coalesce(json_extract_string(c.metadata_json, '$.duration_upper_bound') = 'true', false) as is_duration_upper_bound,
  cast(length(c.summary) as bigint) as summary_chars,
  c.summary_tokens,
  coalesce(json_extract_string(c.metadata_json, '$.summary_tokens_estimated') = 'true', false) as is_summary_estimated,
  coalesce(m.requests, 0) as summariser_requests,
  cast(m.cost_usd as decimal(38, 12)) as summariser_cost_usd,
  b.request_id as before_request_id,
  b.session_label as before_session_label,
  b.requested_at as before_requested_at,
  b.context_tokens as before_context_tokens,
  b.model as before_model,
  b.cache_read_price_usd as before_cache_read_price_usd,
  b.output_price_usd as before_output_price_usd,
  a.request_id as after_request_id,
  a.requested_at as after_requested_at,
  a.context_tokens as after_context_tokens,
  a.model as after_model,
  a.cache_read_tokens as after_cache_read_tokens,
  a.cache_write_5m_tokens as after_cache_write_5m_tokens,
  a.cache_write_1h_tokens as after_cache_write_1h_tokens,
  a.cache_read_price_usd as after_cache_read_price_usd,
  a.cache_write_5m_price_usd as after_cache_write_5m_price_usd,
  a.cache_write_1h_price_usd as after_cache_write_1h_price_usd,
  coalesce(l.requests, 0) as requests_after,
  coalesce(n.turns_after, 0) as turns_after,
  l.last_requested_at,
  f.turn_id as next_compaction_turn_id,
  f.compacted_at as next_compacted_at
from placed_compaction c
left join sessions s on s.label = c.session_label
left join session_context x on x.label = c.session_label
left join earlier_request b on b.compaction_turn_id = c.turn_id and b.place = 1
left join later_request a on a.compaction_turn_id = c.turn_id and a.place = 1
left join later_request_count l on l.compaction_turn_id = c.turn_id
left join turn_after_count n on n.compaction_turn_id = c.turn_id
left join kept_turn_count k on k.turn_id = c.turn_id
left join summarising_request_count m on m.turn_id = c.turn_id
left join following_compaction f on f.compaction_turn_id = c.turn_id and f.place = 1
