-- title: Inclusive cost of a session
-- question: What did sessions cost with history and subagents?
-- why: A session's own requests tell only part of what its result took.
-- grain: session
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param origin: text = none; only this origin
-- param session: text = none; only this session
-- column session_label: VARCHAR; the session
-- column title: VARCHAR; its title, else the task that a subagent was given, else the beginning of its first prompt
-- column own_cost_usd: DECIMAL(38,12); cost of what counts for it; NULL when it made requests and none is priced
-- column shared_cost_usd: DECIMAL(38,12); cost of the turns on the way to its head that count for another session
-- column subagents_cost_usd: DECIMAL(38,12); cost of the subagents below it, at any depth
-- column total_cost_usd: DECIMAL(38,12); these three together, as far as they are known
-- column subagents: BIGINT; subagents below it that made requests
-- column own_requests: BIGINT; requests that count for it
-- column requests: BIGINT; requests of all three parts
-- column unpriced_requests: BIGINT; those of them with tokens that have no price
-- column final_share: DOUBLE; share of those with usage whose reported output is the final count
-- shown: session_label, total_cost_usd, title, own_cost_usd, subagents_cost_usd, shared_cost_usd, subagents, requests
-- empty: No sessions yet.
-- next: `aix show SESSION` shows the conversation
-- caveat: Shared history counts for every session that goes on from it, so the rows add up to more than the total.
-- caveat: Subagents that shared turns started count for the session that owns those turns, and not here.
-- caveat: Where final_share is below 1, the costs are a lower bound.
-- references: docs/economics.md#one-turn-one-owner; why totals of sessions overlap

-- Every turn with the session that owns it.
with owned_turn as (
  select t.id as turn_id, t.parent_turn_id, o.session_label
  from turns t
  left join v_turn_owner o on o.turn_id = t.id
),
-- Requests by session and turn; those on the side have no turn.
turn_cost as (
  select
    r.session_label,
    r.turn_id,
    sum(r.cost_usd) as cost_usd,
    count(*) as requests,
    count(case when r.has_usage and r.cost_usd is null then 1 end) as unpriced,
    count(case when r.has_usage then 1 end) as with_usage,
    count(case when r.has_usage and r.is_usage_final then 1 end) as final
  from v_requests r
  where (getvariable('since') is null or r.requested_at >= getvariable('since'))
    and (getvariable('until') is null or r.requested_at < getvariable('until'))
  group by r.session_label, r.turn_id
),
-- The cost of a session's own turns.
own_cost as (
  select
    session_label,
    sum(cost_usd) as cost_usd, sum(requests) as requests, sum(unpriced) as unpriced, sum(with_usage) as with_usage,
    sum(final) as final
  from turn_cost
  group by session_label
),
-- Few sessions go on from another's turns. Only these are followed to their root.
continuing_session as (
  select t.session_label
  from owned_turn t
  join owned_turn p on p.turn_id = t.parent_turn_id
  where p.session_label <> t.session_label
  union
  select s.label
  from sessions s
  join owned_turn h on h.turn_id = s.thread_id
  where h.session_label <> s.label
),
-- All turns on the way to the heads of these sessions.
inherited_turn as (
  select i.session_label, w.turn_id
  from continuing_session i
  join v_session_turns w on w.session_label = i.session_label
),
-- A session's own cost, that of the turns it goes on from, and that of each of its subagents.
cost_part as (
  select
    'own' as kind, session_label, cast(null as varchar) as subagent_label, cost_usd, requests, unpriced, with_usage,
    final
  from own_cost
  union all
  select 'shared', w.session_label, null, c.cost_usd, c.requests, c.unpriced, c.with_usage, c.final
  from inherited_turn w
  join turn_cost c on c.turn_id = w.turn_id
  where c.session_label <> w.session_label
  union all
  select 'subagent', a.ancestor_label, a.session_label, o.cost_usd, o.requests, o.unpriced, o.with_usage, o.final
  from v_subagents a
  join own_cost o on o.session_label = a.session_label
),
-- One row for each session; those of two sessions may hold the same turns.
session_totals as (
  select
    session_label,
    sum(case when kind = 'own' then cost_usd end) as own_cost_usd,
    sum(case when kind = 'shared' then cost_usd end) as shared_cost_usd,
    sum(case when kind = 'subagent' then cost_usd end) as subagents_cost_usd,
    sum(cost_usd) as total_cost_usd,
    cast(coalesce(sum(case when kind = 'own' then requests end), 0) as bigint) as own_requests,
    cast(coalesce(sum(case when kind = 'shared' then requests end), 0) as bigint) as shared_requests,
    count(subagent_label) as subagents,
    cast(sum(requests) as bigint) as requests,
    cast(sum(unpriced) as bigint) as unpriced_requests,
    cast(sum(final) as bigint) / nullif(cast(sum(with_usage) as bigint), 0) as final_share
  from cost_part
  group by session_label
)
select
  n.session_label,
  x.title,
  case when n.own_requests = 0 then cast(0 as decimal(38, 12)) else n.own_cost_usd end as own_cost_usd,
  case when n.shared_requests = 0 then cast(0 as decimal(38, 12)) else n.shared_cost_usd end as shared_cost_usd,
  case when n.subagents = 0 then cast(0 as decimal(38, 12)) else n.subagents_cost_usd end as subagents_cost_usd,
  n.total_cost_usd,
  n.subagents,
  n.own_requests,
  n.requests,
  n.unpriced_requests,
  n.final_share
from session_totals n
join sessions s on s.label = n.session_label
left join v_session_titles x on x.session_label = n.session_label
where (getvariable('session') is null or n.session_label = getvariable('session'))
  and (getvariable('origin') is null or s.origin = getvariable('origin'))
order by n.total_cost_usd desc nulls last, n.session_label
