-- title: Principals
-- question: In whose name did agents act, and at what cost?
-- why: Who answers for a call is who it was made for.
-- grain: principal and on_behalf_of
-- params: filters
-- column principal: VARCHAR; in whose name the agent acted
-- column on_behalf_of: VARCHAR; who had delegated that to the principal
-- column sessions: BIGINT; sessions
-- column turns: BIGINT; turns
-- column calls: BIGINT; tool calls
-- column denied: BIGINT; of these, calls that were denied
-- column risky_calls: BIGINT; calls of high or medium risk that were not denied
-- column cost_usd: DECIMAL(38,12); list price of the requests; NULL when nothing of it is priced
-- column first_started_at: BIGINT; the first of the turns, in Unix ms
-- column last_started_at: BIGINT; the last of them, in Unix ms
-- shown: principal, on_behalf_of, cost_usd, calls, denied, risky_calls, sessions, turns
-- empty: No log names a principal.
-- caveat: Turns of which no log names a principal are left out.
-- caveat: Turns count by their start, calls and requests by their own time.
with principal_turn as (
  select x.principal, x.on_behalf_of, n.turn_id, n.session_label, n.started_at
  from turn_context x
  join v_counted_turns n on n.turn_id = x.turn_id
  where x.principal is not null
    and (getvariable('since') is null or n.started_at >= getvariable('since'))
    and (getvariable('until') is null or n.started_at < getvariable('until'))
),
risky_call as (
  select call_id from v_counted_risks where severity in ('high', 'medium') and not is_denied group by call_id
),
turn_calls as (
  select
    c.turn_id,
    count(*) as calls,
    count(case when c.is_denied then 1 end) as denied,
    count(r.call_id) as risky_calls
  from v_counted_calls c
  left join risky_call r on r.call_id = c.call_id
  group by c.turn_id
),
turn_cost as (
  select turn_id, sum(cost_usd) as cost_usd from v_counted_requests group by turn_id
)
select
  a.principal, a.on_behalf_of,
  count(distinct a.session_label) as sessions,
  count(*) as turns,
  cast(coalesce(sum(c.calls), 0) as bigint) as calls,
  cast(coalesce(sum(c.denied), 0) as bigint) as denied,
  cast(coalesce(sum(c.risky_calls), 0) as bigint) as risky_calls,
  sum(s.cost_usd) as cost_usd,
  min(a.started_at) as first_started_at,
  max(a.started_at) as last_started_at
from principal_turn a
left join turn_calls c on c.turn_id = a.turn_id
left join turn_cost s on s.turn_id = a.turn_id
group by a.principal, a.on_behalf_of
order by count(*) desc, a.principal, a.on_behalf_of nulls first
