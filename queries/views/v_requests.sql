-- title: Each request with its cost, its place, and the requests around it
-- question: What did each request cost, for which session and project, and what came before and after it?
-- why: All figures of cost, cache and context are sums over these rows; to find them takes longer than to add them up.
-- grain: request
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
-- column quarter_hour: BIGINT; quarters of an hour since 1970, of which every time zone's days are made
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
-- caveat: What a parent only says in total of a subagent whose log is gone is no request, and is left out.
-- caveat: Before and after are the session's requests of kind main with usage, in order of time, on all branches.
-- kept: by family with requests
with message_before as (
  select m.id as message_id, b.created_at as before_at
  from messages m
  join messages b on b.turn_id = m.turn_id and b.sequence = m.sequence - 1
  where m.role = 'assistant' and b.role <> 'assistant' and b.created_at between -62135596800000 and 253402214400000
),
message_calls as (
  select
    c.message_id,
    arg_min(c.tool_name, c.sequence) as first_tool_name,
    count(
      case
        when d.outcome in ('not_granted', 'denied_directory', 'denied_mode', 'denied_hook', 'denied_rule', 'denied_user')
          then 1
      end
    ) as denied_calls,
    count(p.call_id) as repeated_calls
  from tool_calls c
  left join permission_decisions d on d.call_id = c.id
  left join v_repeated_calls p on p.call_id = c.id
  where c.message_id is not null
  group by c.message_id
),
-- A compaction is a turn of its own, and a turn that it cut goes on as another: stretches are made of whole turns.
turn_place as (
  select
    t.id as turn_id,
    o.session_label,
    t.role,
    t.status,
    t.workspace_path,
    t.response_message_id,
    c.situation,
    sum(case when t.turn_type = 'compaction' then 1 else 0 end) over (
      partition by o.session_label
      order by t.started_at, case when t.turn_type = 'compaction' then 0 else 1 end, t.id
      rows unbounded preceding
    ) as stretch
  from turns t
  left join v_turn_owner o on o.turn_id = t.id
  left join turn_context c on c.turn_id = t.id
),
placed_request as (
  select
    r.* exclude (session_label),
    coalesce(t.session_label, r.session_label) as session_label,
    t.role,
    t.status as turn_status,
    t.situation,
    t.workspace_path,
    t.response_message_id,
    coalesce(t.stretch, -1) as stretch,
    r.kind = 'main' and r.has_usage and coalesce(t.session_label, r.session_label) is not null as is_in_thread,
    case when r.requested_at between -62135596800000 and 253402214400000 then r.requested_at end as dated_at
  from v_requests_cost r
  left join turn_place t on t.turn_id = r.turn_id
)
select
  r.request_id, r.turn_id, r.message_id, r.origin_message_id, r.seq, r.requested_at, r.kind, r.model, r.provider,
  r.variant, r.git_branch, r.cwd, r.stop_reason, r.latency_ms,
  r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cache_write_5m_tokens,
  r.cache_write_1h_tokens, r.reasoning_tokens, r.context_tokens, r.web_search_count, r.estimated_output_tokens,
  r.likely_output_tokens, r.is_usage_final, r.is_ttl_assumed, r.has_usage,
  r.input_price_usd, r.output_price_usd, r.cache_read_price_usd, r.cache_write_5m_price_usd, r.cache_write_1h_price_usd,
  r.input_cost_usd, r.output_cost_usd, r.cache_read_cost_usd, r.cache_write_5m_cost_usd, r.cache_write_1h_cost_usd,
  r.web_search_cost_usd, r.cost_usd, r.cost_estimated_usd, r.reported_cost_usd, r.price_basis,
  r.session_label,
  s.origin,
  coalesce(r.role, case when s.is_subagent = 1 then 'worker' else 'unified' end) as role,
  r.turn_status,
  r.situation,
  r.workspace_path,
  c.project as session_project,
  cast(floor(r.requested_at / 900000) as bigint) as quarter_hour,
  r.has_usage and r.cost_usd is null as is_unpriced,
  case when r.has_usage and r.cost_usd is null then r.context_tokens + coalesce(r.output_tokens, 0) end
    as unpriced_tokens,
  r.has_usage and coalesce(r.is_usage_final, false) as has_final_usage,
  f.first_tool_name,
  coalesce(f.denied_calls, 0) as denied_calls,
  coalesce(f.repeated_calls, 0) as repeated_calls,
  m.thinking_chars,
  case when r.message_id = r.response_message_id then m.text_chars end as answer_chars,
  r.dated_at - p.before_at as waited_ms,
  case when r.is_in_thread then row_number() over thread end as thread_place,
  case when r.is_in_thread then r.dated_at - lag(r.dated_at) over thread end as gap_ms,
  case when r.is_in_thread then lag(r.requested_at) over thread end as before_requested_at,
  case when r.is_in_thread then lag(r.model) over thread end as before_model,
  case when r.is_in_thread then lag(r.context_tokens) over thread end as before_context_tokens,
  case when r.is_in_thread then lag(r.cache_write_5m_tokens) over thread end as before_write_5m_tokens,
  case when r.is_in_thread then lag(r.cache_write_1h_tokens) over thread end as before_write_1h_tokens,
  case when r.is_in_thread then count(*) over later end as later_requests,
  case when r.is_in_thread then cast(sum(r.cache_read_price_usd) over later as decimal(38, 12)) end as later_read_usd
from placed_request r
left join sessions s on s.label = r.session_label
left join session_context c on c.label = r.session_label
left join message_calls f on f.message_id = r.message_id
left join message_facts m on m.message_id = r.message_id
left join message_before p on p.message_id = r.message_id
window
  thread as (partition by r.session_label, r.is_in_thread order by r.requested_at, r.seq, r.request_id),
  later as (
    partition by r.session_label, r.is_in_thread, r.stretch
    order by r.requested_at, r.seq, r.request_id
    rows between 1 following and unbounded following
  )
