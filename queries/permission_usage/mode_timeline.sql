-- title: Changes of the permission mode
-- question: When did sessions change their permission mode?
-- why: A session often begins with questions asked and ends without; this shows since when.
-- grain: change
-- params: filters
-- column session_label: VARCHAR; the session
-- column changed_at: BIGINT; by when the mode was in force, in Unix ms: the start of the turn, or the call
-- column from_mode: VARCHAR; the mode before; NULL at the start, and where no log has it
-- column to_mode: VARCHAR; the mode from then on; NULL where no log has it
-- column how_known: VARCHAR; one of start, turn, call: the first call of the session, of a turn, or one within a turn has it
-- column project: VARCHAR; the project
-- column origin: VARCHAR; the tool whose logs tell of it
-- column turn_id: VARCHAR; the turn of the first call in the mode
-- column call_id: VARCHAR; this call
-- shown: session_label, changed_at, to_mode, from_mode, how_known, project, turn_id
-- empty: No session has a known permission mode.
-- next: `aix query modes` shows what was risked in each mode
-- caveat: The mode is read from calls: one in which no call was made does not show.
with call_with_mode as (
  select
    c.session_label, c.turn_id, c.call_id, c.called_at, c.mode, c.project, c.origin,
    lag(c.turn_id) over session_order as turn_before,
    lag(c.mode) over session_order as mode_before
  from v_counted_targets c
  where c.number = 0
  window session_order as (partition by c.session_label order by c.called_at, c.call_id)
)
select
  m.session_label,
  case when m.turn_before = m.turn_id then m.called_at else t.started_at end as changed_at,
  m.mode_before as from_mode,
  m.mode as to_mode,
  case when m.turn_before is null then 'start' when m.turn_before = m.turn_id then 'call' else 'turn' end as how_known,
  m.project, m.origin, m.turn_id, m.call_id
from call_with_mode m
join turns t on t.id = m.turn_id
where m.mode is distinct from m.mode_before
order by m.session_label, m.called_at, m.call_id
