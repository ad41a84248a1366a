-- title: Sessions
-- question: Which sessions are there, and how large are they?
-- why: The way in: find the session to read, and see where turns and tokens went.
-- grain: session
-- column label: VARCHAR; the session
-- column title: VARCHAR; its title, else the task that a subagent was given, else the beginning of its first prompt
-- column origin: VARCHAR; where it came from
-- column project: VARCHAR; the project it worked on
-- column workspace_path: VARCHAR; root folder of its last turn
-- column persona_id: VARCHAR; the persona that owns it
-- column is_subagent: BIGINT; 1 when another session spawned it, else 0
-- column parent_session_label: VARCHAR; the session that spawned it
-- column created_at: BIGINT; start of the first turn, in Unix ms; NULL where the log has no time
-- column updated_at: BIGINT; end of the last turn, in Unix ms; NULL where the log has no time
-- column status: VARCHAR; active, archived or deleted
-- column turns: BIGINT; how many turns lead to its head, that one included
-- column failed_turns: BIGINT; how many of them failed
-- column messages: BIGINT; messages of these turns
-- column tool_calls: BIGINT; tool calls of these turns
-- column models: VARCHAR; the models that answered, in alphabetical order
-- column input_tokens: BIGINT; uncached input; all tokens are NULL when unknown
-- column output_tokens: BIGINT; output
-- column cached_input_tokens: BIGINT; input read from the cache
-- column cache_write_tokens: BIGINT; input written to the cache
-- column total_tokens: BIGINT; all of these together
-- column cost_usd: DECIMAL(38,12); list price of the tokens that the requests of these turns report; NULL when unknown
-- column cost_estimated_usd: DECIMAL(38,12); the same with the output estimated where its count is not final
-- column unpriced_requests: BIGINT; requests of these turns with tokens that have no price, and so in no cost
-- shown: label, title, updated_at, cost_usd, project, turns, total_tokens, tool_calls, models, status
-- empty: No sessions yet.
-- next: `aix show SESSION` shows one
-- caveat: A turn that several sessions share, because one was resumed or forked from another, is counted for each.
-- caveat: Work of subagents is counted for their own sessions only, and an abandoned branch for the session that ends it.

-- All turns on the way to a session's head, those of the sessions that it goes on from among them.
with session_turn as (
  select session_label as label, turn_id from v_session_turns
),
-- Counts and tokens of these turns.
session_sums as (
  select
    s.label,
    count(*) as turns,
    count(case when t.status = 'failed' then 1 end) as failed_turns,
    sum(m.messages) as messages,
    sum(t.tool_call_count) as tool_calls,
    sum(t.input_tokens) as input_tokens,
    sum(t.output_tokens) as output_tokens,
    sum(t.cached_input_tokens) as cached_input_tokens,
    sum(t.cache_write_tokens) as cache_write_tokens,
    sum(t.total_tokens) as total_tokens
  from session_turn s
  join turns t on t.id = s.turn_id
  left join v_turn_messages m on m.turn_id = t.id
  group by s.label
),
-- Requests are many: they are gone through once, for the cost and for the models.
turn_cost as (
  select
    turn_id,
    model,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    count(case when is_unpriced then 1 end) as unpriced_requests
  from v_requests
  where turn_id is not null
  group by turn_id, model
),
-- The cost of a session, apart for each model.
cost_by_model as (
  select
    s.label,
    c.model,
    sum(c.cost_usd) as cost_usd,
    sum(c.cost_estimated_usd) as cost_estimated_usd,
    sum(c.unpriced_requests) as unpriced_requests
  from session_turn s
  join turn_cost c on c.turn_id = s.turn_id
  group by s.label, c.model
),
-- The same for all models together.
cost_by_session as (
  select
    label,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    sum(unpriced_requests) as unpriced_requests
  from cost_by_model
  group by label
),
-- Models that turns name, and those that only requests name.
model_by_session as (
  select s.label, t.model from session_turn s join turns t on t.id = s.turn_id where t.model is not null
  union
  select label, model from cost_by_model where model is not null
),
-- Sessions whose times were made up because the log has none.
undated_session as (
  select row_key as label, count(case when column_name = 'created_at' then 1 end) > 0 as is_start_undated,
    count(case when column_name = 'updated_at' then 1 end) > 0 as is_end_undated
  from inferred_values
  where table_name = 'sessions' and basis = 'undated'
  group by row_key
),
-- The names of the models in one text.
models_by_session as (
  select label, string_agg(model, ', ' order by model) as models from model_by_session group by label
)
select
  s.label,
  t.title,
  s.origin,
  c.project,
  head.workspace_path,
  s.persona_id,
  s.is_subagent,
  s.parent_session_label,
  case when u.is_start_undated then null else s.created_at end as created_at,
  case when u.is_end_undated then null else s.updated_at end as updated_at,
  s.status,
  cast(coalesce(n.turns, 0) as bigint) as turns,
  cast(coalesce(n.failed_turns, 0) as bigint) as failed_turns,
  cast(coalesce(n.messages, 0) as bigint) as messages,
  cast(coalesce(n.tool_calls, 0) as bigint) as tool_calls,
  m.models,
  try_cast(n.input_tokens as bigint) as input_tokens,
  try_cast(n.output_tokens as bigint) as output_tokens,
  try_cast(n.cached_input_tokens as bigint) as cached_input_tokens,
  try_cast(n.cache_write_tokens as bigint) as cache_write_tokens,
  try_cast(n.total_tokens as bigint) as total_tokens,
  cast(q.cost_usd as decimal(38, 12)) as cost_usd,
  cast(q.cost_estimated_usd as decimal(38, 12)) as cost_estimated_usd,
  cast(coalesce(q.unpriced_requests, 0) as bigint) as unpriced_requests
from sessions s
left join session_context c on c.label = s.label
left join v_session_titles t on t.session_label = s.label
left join turns head on head.id = s.thread_id
left join undated_session u on u.label = s.label
left join session_sums n on n.label = s.label
left join models_by_session m on m.label = s.label
left join cost_by_session q on q.label = s.label
order by case when u.is_end_undated then null else s.updated_at end desc nulls last, s.label
