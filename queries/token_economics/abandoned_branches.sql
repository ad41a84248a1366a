-- title: Abandoned branches
-- question: Which turns were abandoned, and what did they cost?
-- why: Work that was rewound or forked away from was paid for all the same.
-- grain: session
-- params: filters
-- column session_label: VARCHAR; the session the turns count for
-- column project: VARCHAR; its project
-- column branches: BIGINT; ends of branches among these turns, in which work was given up
-- column turns: BIGINT; turns with requests that no active session's head builds on
-- column requests: BIGINT; their requests
-- column last_at: BIGINT; when the last of them was made, in Unix ms
-- column context_tokens: BIGINT; their whole input; NULL when unknown
-- column output_tokens: BIGINT; their output as reported; NULL when unknown
-- column cost_usd: DECIMAL(38,12); list price of their reported tokens; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: session_label, last_at, cost_usd, turns, requests, project
-- empty: No abandoned branches: every turn leads to the head of a session.
-- next: `aix show SESSION` shows the conversation with its branches
-- caveat: What was learned in an abandoned turn may still have been of use.
-- caveat: A branch whose turns made no request is not listed.
select
  r.session_label,
  min(r.project) as project,
  count(distinct case when a.is_end then a.turn_id end) as branches,
  count(distinct a.turn_id) as turns,
  count(*) as requests,
  max(r.requested_at) as last_at,
  cast(sum(r.context_tokens) as bigint) as context_tokens,
  cast(sum(r.output_tokens) as bigint) as output_tokens,
  sum(r.cost_usd) as cost_usd,
  sum(r.cost_estimated_usd) as cost_estimated_usd,
  cast(coalesce(sum(case when r.is_usage_final then r.output_tokens end), 0) as double)
    / nullif(cast(sum(r.output_tokens) as double), 0) as final_output_share
from v_counted_requests r
join v_abandoned_turns a on a.turn_id = r.turn_id
group by r.session_label
order by cost_usd desc nulls last, r.session_label
