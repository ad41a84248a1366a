-- title: Tags of sessions and turns
-- question: Which tags do sessions and turns have?
-- why: People tag sessions and turns, and events of programs tag them by their ids.
-- grain: what has the tag, and the tag
-- column entity_type: VARCHAR; one of sessions, turns
-- column entity_id: VARCHAR; the label of the session, or the id of the turn
-- column tag: VARCHAR; the tag
-- column added_at: BIGINT; when it was first given, in Unix ms
with given as (
  select entity_type, entity_id, tag, added_at from tags where entity_type in ('sessions', 'turns')
  union all
  select 'sessions' as entity_type, s.label as entity_id, n.tag, n.added_at
  from v_node_tags n
  join sessions s on s.label = n.node_id
  union all
  select 'sessions' as entity_type, a.session_label as entity_id, n.tag, n.added_at
  from v_node_tags n
  join session_aliases a on a.alias = n.node_id
  union all
  select 'turns' as entity_type, t.id as entity_id, n.tag, n.added_at
  from v_node_tags n
  join turns t on t.id = n.node_id
)
select entity_type, entity_id, tag, min(added_at) as added_at
from given
group by entity_type, entity_id, tag
