-- title: The turns that lead to each session's head
-- question: Which turns does a session consist of, in order, shared history included?
-- why: What a session knows is the path from the root to its head, whoever made those turns.
-- grain: session and turn
-- column session_label: VARCHAR; the session
-- column turn_id: VARCHAR; a turn on the way to its head
-- column position: BIGINT; its place on the way, from 1
with recursive walk as (
  select s.label as session_label, t.id as turn_id, t.parent_turn_id, h.depth as position
  from sessions s
  join threads h on h.turn_id = s.thread_id
  join turns t on t.id = s.thread_id
  union all
  select w.session_label, t.id, t.parent_turn_id, w.position - 1
  from walk w
  join turns t on t.id = w.parent_turn_id
  where w.position > 1
)
select session_label, turn_id, position from walk
