-- title: Scope of the audit
-- question: How many sessions, turns and projects were looked at, and from when to when?
-- why: A report about few sessions, or about old ones, says little about today.
-- grain: one row
-- params: filters
-- column sessions: BIGINT; sessions
-- column turns: BIGINT; turns
-- column projects: BIGINT; projects of these turns
-- column first_turn_at: BIGINT; when the first turn began, in Unix ms
-- column last_turn_at: BIGINT; when the last turn began, in Unix ms
-- caveat: A turn whose log has no time counts where no dates are asked for, and does not set the first or the last.
-- caveat: A session without a turn of its own counts where nothing is filtered.
with counted_turn as (
  select
    n.turn_id, n.session_label, n.project,
    case when i.row_key is null then n.started_at end as started_at
  from v_counted_turns n
  left join inferred_values i
    on i.table_name = 'turns' and i.row_key = n.turn_id and i.column_name = 'started_at' and i.basis = 'undated'
  where (getvariable('since') is null or (i.row_key is null and n.started_at >= getvariable('since')))
    and (getvariable('until') is null or (i.row_key is null and n.started_at < getvariable('until')))
),
counted_session as (
  select session_label from counted_turn where session_label is not null
  union
  select label
  from sessions
  where getvariable('since') is null and getvariable('until') is null and getvariable('project') is null
    and getvariable('origin') is null and getvariable('model') is null and getvariable('session') is null
    and getvariable('tag') is null
),
session_total as (
  select count(*) as sessions from counted_session
)
select
  min(s.sessions) as sessions,
  count(n.turn_id) as turns,
  count(distinct n.project) as projects,
  min(n.started_at) as first_turn_at,
  max(n.started_at) as last_turn_at
from session_total s
left join counted_turn n on true
order by sessions
