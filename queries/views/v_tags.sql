-- title: All tags
-- question: What has which tag?
-- why: People tag anything that has an id; so do events of programs.
-- grain: what has the tag, and the tag
-- column entity_type: VARCHAR; the table of what has it, such as sessions, turns, messages, tool_calls, programs
-- column entity_id: VARCHAR; its key there: the label of a session, `KIND/ID` for a node of a graph, the id of anything else
-- column tag: VARCHAR; the tag
-- column added_at: BIGINT; when it was first given, in Unix ms; NULL when an event without a time gave it
-- caveat: An id that an event tags and nothing in the ledger has counts as a program.
with given as (
  select entity_type, entity_id, tag, added_at from v_work_tags
  union all
  select entity_type, entity_id, tag, added_at from tags where entity_type not in ('sessions', 'turns')
  union all
  select 'programs' as entity_type, n.node_id as entity_id, n.tag, n.added_at
  from v_node_tags n
  left join programs p on p.id = n.node_id
  left join sessions s on s.label = n.node_id
  left join session_aliases a on a.alias = n.node_id
  left join turns t on t.id = n.node_id
  left join messages m on m.id = n.node_id
  left join tool_calls c on c.id = n.node_id
  left join (select node_id from dag_nodes group by node_id) d on d.node_id = n.node_id
  where p.id is not null
    or (s.label is null and a.alias is null and t.id is null and m.id is null and c.id is null and d.node_id is null)
  union all
  select 'messages' as entity_type, m.id as entity_id, n.tag, n.added_at
  from v_node_tags n
  join messages m on m.id = n.node_id
  union all
  select 'tool_calls' as entity_type, c.id as entity_id, n.tag, n.added_at
  from v_node_tags n
  join tool_calls c on c.id = n.node_id
  union all
  select 'dag_nodes' as entity_type, d.kind || '/' || d.node_id as entity_id, n.tag, n.added_at
  from v_node_tags n
  join (select kind, node_id from dag_nodes group by kind, node_id) d on d.node_id = n.node_id
)
select entity_type, entity_id, tag, min(added_at) as added_at
from given
group by entity_type, entity_id, tag
