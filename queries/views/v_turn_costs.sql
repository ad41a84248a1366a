-- title: The cost of each turn, and of the subagents that it started
-- question: What did each turn cost, and what did the subagents cost that were started in it?
-- why: Costs of a branch are sums over its turns, with the work that they delegated beside them.
-- grain: turn with requests or subagents
-- column turn_id: VARCHAR; the turn
-- column requests: BIGINT; its requests
-- column cost_usd: DECIMAL(38,12); list price of the tokens that they report; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the output estimated where its count is not final
-- column unpriced_requests: BIGINT; its requests with tokens that have no price
-- column subagents: BIGINT; subagents that it started, with those that these started, at any depth
-- column subagents_cost_usd: DECIMAL(38,12); the cost of the turns that count for them; NULL when none is priced
-- column subagents_cost_estimated_usd: DECIMAL(38,12); the same with the output estimated
-- column subagents_unpriced_requests: BIGINT; requests of these turns with tokens that have no price
-- caveat: Of subagents whose start is not logged, only the session is known, so they are in no row here.
with turn_cost as (
  select
    turn_id,
    count(*) as requests,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    count(case when is_unpriced then 1 end) as unpriced_requests
  from v_requests
  where turn_id is not null
  group by turn_id
),
started_session as (
  select parent_turn_id as turn_id, label as session_label
  from sessions
  where parent_turn_id is not null and parent_session_label is not null
),
subagent as (
  select turn_id, session_label from started_session
  union
  select s.turn_id, d.session_label
  from started_session s
  join v_subagents d on d.ancestor_label = s.session_label
),
-- Only what counts for subagents is summed by session: most turns do not.
subagent_cost as (
  select
    o.session_label,
    sum(c.cost_usd) as cost_usd,
    sum(c.cost_estimated_usd) as cost_estimated_usd,
    sum(c.unpriced_requests) as unpriced_requests
  from (select distinct session_label from subagent) b
  join v_turn_owner o on o.session_label = b.session_label
  join turn_cost c on c.turn_id = o.turn_id
  group by o.session_label
),
delegated as (
  select
    b.turn_id,
    count(*) as subagents,
    sum(c.cost_usd) as cost_usd,
    sum(c.cost_estimated_usd) as cost_estimated_usd,
    sum(c.unpriced_requests) as unpriced_requests
  from subagent b
  left join subagent_cost c on c.session_label = b.session_label
  group by b.turn_id
)
select
  coalesce(c.turn_id, d.turn_id) as turn_id,
  coalesce(c.requests, 0) as requests,
  cast(c.cost_usd as decimal(38, 12)) as cost_usd,
  cast(c.cost_estimated_usd as decimal(38, 12)) as cost_estimated_usd,
  coalesce(c.unpriced_requests, 0) as unpriced_requests,
  coalesce(d.subagents, 0) as subagents,
  cast(d.cost_usd as decimal(38, 12)) as subagents_cost_usd,
  cast(d.cost_estimated_usd as decimal(38, 12)) as subagents_cost_estimated_usd,
  cast(coalesce(d.unpriced_requests, 0) as bigint) as subagents_unpriced_requests
from turn_cost c
full join delegated d on d.turn_id = c.turn_id
