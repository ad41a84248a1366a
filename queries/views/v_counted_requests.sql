-- title: The requests that a question counts
-- question: Which requests fall into the time, project, origin, model, session and tag that were asked for?
-- why: Every figure of cost is a sum over these rows, so that the same filters mean the same everywhere.
-- grain: request
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
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
-- column project: VARCHAR; the project of its turn, else of its session
-- column quarter_hour: BIGINT; quarters of an hour since 1970, of which every time zone's days are made
-- column is_unpriced: BOOLEAN; whether tokens are reported that have no price
-- column unpriced_tokens: BIGINT; its tokens where they have no price
-- column has_final_usage: BOOLEAN; whether tokens are reported and the output is the final count
-- caveat: What a parent only says in total of a subagent whose log is gone is no request, and is left out.

-- What is known by turn is put together first: there are far fewer turns than requests.
with tagged_session as (
  select entity_id as label from tags where entity_type = 'sessions' and tag = getvariable('tag')
),
-- One row for each turn and session, said by GROUP BY: DuckDB then leaves out a join that a question does not need.
turn_place as (
  select
    t.id as turn_id,
    any_value(o.session_label) as session_label,
    any_value(s.origin) as origin,
    any_value(coalesce(t.role, case when s.is_subagent = 1 then 'worker' else 'unified' end)) as role,
    any_value(t.status) as status,
    any_value(coalesce(p.project, c.project)) as project,
    bool_or(
      t.id in (select entity_id from tags where entity_type = 'turns' and tag = getvariable('tag'))
      or coalesce(o.session_label in (select label from tagged_session), false)
    ) as is_tagged
  from turns t
  left join v_turn_owner o on o.turn_id = t.id
  left join v_project p on p.turn_id = t.id
  left join sessions s on s.label = o.session_label
  left join session_context c on c.label = o.session_label
  group by t.id
),
side_place as (
  select
    s.label as session_label,
    any_value(s.origin) as origin,
    any_value(case when s.is_subagent = 1 then 'worker' else 'unified' end) as role,
    any_value(c.project) as project,
    bool_or(s.label in (select label from tagged_session)) as is_tagged
  from sessions s
  left join session_context c on c.label = s.label
  group by s.label
),
placed as (
  select
    r.* exclude (session_label),
    coalesce(t.session_label, r.session_label) as session_label,
    coalesce(t.origin, s.origin) as origin,
    coalesce(t.role, s.role, 'unified') as role,
    t.status as turn_status,
    coalesce(t.project, s.project) as project,
    cast(floor(r.requested_at / 900000) as bigint) as quarter_hour,
    r.has_usage and r.cost_usd is null as is_unpriced,
    case when r.has_usage and r.cost_usd is null then r.context_tokens + coalesce(r.output_tokens, 0) end
      as unpriced_tokens,
    r.has_usage and coalesce(r.is_usage_final, false) as has_final_usage,
    coalesce(t.is_tagged, false) or coalesce(s.is_tagged, false) as is_tagged
  from v_requests_cost r
  left join turn_place t on t.turn_id = r.turn_id
  left join side_place s on s.session_label = case when r.turn_id is null then r.session_label end
)
select * exclude (is_tagged)
from placed
where (getvariable('since') is null or requested_at >= getvariable('since'))
  and (getvariable('until') is null or requested_at < getvariable('until'))
  and (getvariable('model') is null or contains(lower(model), lower(getvariable('model'))))
  and (getvariable('origin') is null or origin = getvariable('origin'))
  and (getvariable('session') is null or session_label = getvariable('session'))
  and (getvariable('project') is null or contains(lower(project), lower(getvariable('project'))))
  and (getvariable('tag') is null or is_tagged)
