-- title: Subagent share
-- question: How much of a session's cost are its subagents?
-- why: Delegation keeps the parent's context small, but every subagent pays for a context of its own.
-- grain: session with subagents
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param parent: text = none; only this session and its subagents
-- column session_label: VARCHAR; the session
-- column subagents: BIGINT; subagent sessions with requests, at any depth
-- column own_requests: BIGINT; requests of the session itself
-- column subagent_requests: BIGINT; requests of its subagents
-- column own_output_tokens: BIGINT; output of the session itself; NULL when unknown
-- column subagent_output_tokens: BIGINT; output of its subagents; NULL when unknown
-- column subagent_output_per_own: DOUBLE; output tokens of the subagents for each output token of the session itself
-- column own_cost_usd: DECIMAL(38,12); list price of the session itself; NULL when nothing is priced
-- column subagent_cost_usd: DECIMAL(38,12); list price of its subagents; NULL when nothing is priced
-- column subagent_cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column subagent_share: DOUBLE; share of the subagents in the cost of both
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: session_label, subagent_cost_usd, subagent_share, subagents, own_cost_usd, subagent_requests, own_requests
-- empty: No session started a subagent.
-- next: `aix show SESSION` shows its subagents
-- caveat: A subagent of a subagent counts for both of them, so rows cannot be added up.
-- caveat: A subagent whose log is gone is not known; only its own line in the parent's log is left.
with session_sum as (
  select
    session_label,
    count(*) as requests,
    sum(output_tokens) as output_tokens,
    sum(case when is_usage_final then output_tokens end) as final_output_tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd
  from v_counted_requests
  group by session_label
),
subagent_sums as (
  select
    d.ancestor_label as session_label,
    count(*) as subagents,
    sum(s.requests) as requests,
    sum(s.output_tokens) as output_tokens,
    sum(s.final_output_tokens) as final_output_tokens,
    sum(s.cost_usd) as cost_usd,
    sum(s.cost_estimated_usd) as cost_estimated_usd
  from v_subagents d
  join session_sum s on s.session_label = d.session_label
  where getvariable('parent') is null or d.ancestor_label = getvariable('parent')
  group by d.ancestor_label
)
select
  d.session_label,
  d.subagents,
  coalesce(o.requests, 0) as own_requests,
  cast(d.requests as bigint) as subagent_requests,
  cast(o.output_tokens as bigint) as own_output_tokens,
  cast(d.output_tokens as bigint) as subagent_output_tokens,
  cast(d.output_tokens as double) / nullif(cast(o.output_tokens as double), 0) as subagent_output_per_own,
  o.cost_usd as own_cost_usd,
  d.cost_usd as subagent_cost_usd,
  d.cost_estimated_usd as subagent_cost_estimated_usd,
  cast(d.cost_usd as double) / nullif(cast(d.cost_usd + coalesce(o.cost_usd, 0) as double), 0) as subagent_share,
  cast(coalesce(d.final_output_tokens, 0) + coalesce(o.final_output_tokens, 0) as double)
    / nullif(cast(coalesce(d.output_tokens, 0) + coalesce(o.output_tokens, 0) as double), 0) as final_output_share
from subagent_sums d
left join session_sum o on o.session_label = d.session_label
order by subagent_cost_usd desc nulls last, d.session_label
