-- title: Scope of the audit
-- question: How much does the audit look at, and of which time?
-- why: A report about few sessions, or about old ones, says little about today.
-- grain: one row
-- params: filters
-- column sessions: BIGINT; sessions that people started
-- column subagents: BIGINT; sessions that other sessions spawned
-- column turns: BIGINT; turns
-- column projects: BIGINT; projects of these turns
-- column first_turn_at: BIGINT; when the first turn began, in Unix ms
-- column last_turn_at: BIGINT; when the last turn began, in Unix ms
-- caveat: A turn whose log has no time counts where no dates are asked for, and does not set the first or the last.
-- caveat: A session without a turn of its own counts where nothing is filtered.
with session_total as (
  select count(case when not is_subagent then 1 end) as sessions, count(case when is_subagent then 1 end) as subagents
  from v_counted_sessions
)
select
  min(s.sessions) as sessions,
  min(s.subagents) as subagents,
  count(n.turn_id) as turns,
  count(distinct n.project) as projects,
  min(n.started_at) as first_turn_at,
  max(n.started_at) as last_turn_at
from session_total s
left join v_turns_in_time n on true
order by sessions
