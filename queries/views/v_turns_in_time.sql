-- title: The turns that a question counts, within its dates
-- question: Which turns fall into everything that was asked for, the time among it?
-- why: Counts of turns and sessions mean the same on every screen.
-- grain: turn
-- params: filters
-- column turn_id: VARCHAR; the turn
-- column session_label: VARCHAR; the session it counts for: its owner
-- column origin: VARCHAR; where that session came from
-- column project: VARCHAR; the project of the turn, else of its session
-- column started_at: BIGINT; when it began, in Unix ms; NULL where the log has no time
-- caveat: A turn whose log has no time counts where no dates are asked for.
select n.turn_id, n.session_label, n.origin, n.project, case when i.row_key is null then n.started_at end as started_at
from v_counted_turns n
left join inferred_values i
  on i.table_name = 'turns' and i.row_key = n.turn_id and i.column_name = 'started_at' and i.basis = 'undated'
where (getvariable('since') is null or (i.row_key is null and n.started_at >= getvariable('since')))
  and (getvariable('until') is null or (i.row_key is null and n.started_at < getvariable('until')))
