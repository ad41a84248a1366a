-- title: The turns that lead to each session's head
-- question: Which turns does a session consist of, in order, shared history included?
-- why: What a session knows is the path from the root to its head, whoever made those turns.
-- grain: session and turn
-- column session_label: VARCHAR; the session
-- column turn_id: VARCHAR; a turn on the way to its head
-- column position: BIGINT; its place on the way, from 1
-- kept: by family with sessions
with turn_on_way as (
  -- An id holds neither quotes nor backslashes, so its place in the text needs no reader of JSON.
  select
    s.label as session_label,
    unnest(string_split(replace(replace(replace(h.ancestry, '", "', '","'), '["', ''), '"]', ''), '","')) as turn_id
  from sessions s
  join threads h on h.turn_id = s.thread_id
)
select w.session_label, w.turn_id, h.depth as position
from turn_on_way w
join threads h on h.turn_id = w.turn_id
