-- title: Turns by source
-- question: How many turns did people and triggers begin?
-- why: Shows how much of the work nobody asked for at that moment: timers, webhooks and other agents spend too.
-- grain: source
-- params: filters
-- column source: VARCHAR; what sent the turn's first prompt: human, trigger, agent, webhook, cron, event; NULL when unknown
-- column turns: BIGINT; turns
-- column failed_turns: BIGINT; turns that failed or were stopped
-- column sessions: BIGINT; sessions that these turns count for
-- column requests: BIGINT; requests of the turns
-- column total_tokens: BIGINT; their tokens of all kinds; NULL when unknown
-- column cost_usd: DECIMAL(38,12); list price of the tokens that are reported; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the output estimated where its count is not final
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- shown: source, turns, failed_turns, cost_usd, total_tokens, requests, sessions, cost_estimated_usd
-- empty: No turns yet.
-- next: `aix cost --by role` shows what subagents cost
-- caveat: A turn counts for the source of its first prompt; later prompts of the turn may have others.
-- caveat: Compactions have no prompt, and so no source.
-- references: docs/routing.md#where-a-target-leads; where a trigger routes
with first_prompt as (
  select
    turn_id,
    min_by(source, right('0000000000' || cast(sequence as varchar), 10) || id) as source
  from messages
  where role = 'user' and source is not null
  group by turn_id
),
undated_turn as (
  select distinct row_key as turn_id
  from inferred_values
  where table_name = 'turns' and column_name = 'started_at' and basis = 'undated'
)
select
  p.source,
  count(*) as turns,
  count(case when n.status = 'failed' then 1 end) as failed_turns,
  count(distinct t.session_label) as sessions,
  cast(coalesce(sum(c.requests), 0) as bigint) as requests,
  cast(sum(n.total_tokens) as bigint) as total_tokens,
  sum(c.cost_usd) as cost_usd,
  sum(c.cost_estimated_usd) as cost_estimated_usd,
  cast(coalesce(sum(c.unpriced_requests), 0) as bigint) as unpriced_requests
from v_counted_turns t
join turns n on n.id = t.turn_id
left join first_prompt p on p.turn_id = t.turn_id
left join v_turn_costs c on c.turn_id = t.turn_id
left join undated_turn u on u.turn_id = t.turn_id
where (getvariable('since') is null or (u.turn_id is null and t.started_at >= getvariable('since')))
  and (getvariable('until') is null or (u.turn_id is null and t.started_at < getvariable('until')))
group by p.source
order by turns desc, p.source
