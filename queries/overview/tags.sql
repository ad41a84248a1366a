-- title: Tags
-- question: Which sessions and turns did people tag, and how?
-- why: Tags say what a log cannot: the customer, the sprint, the experiment that work was done for.
-- grain: tag and what has it
-- column tag: VARCHAR; the tag
-- column entity_type: VARCHAR; the table of what has it: sessions, turns
-- column entity_id: VARCHAR; its key there: the label of a session, the id of a turn
-- column title: VARCHAR; the title of the session, else the task that a subagent was given, else the beginning of its first prompt
-- column added_at: BIGINT; when the tag was first given, in Unix ms
-- shown: tag, title, entity_type, entity_id, added_at
-- empty: Nothing is tagged.
-- next: `aix tag add TAG SESSION` tags a session
select
  t.tag,
  t.entity_type,
  t.entity_id,
  s.title,
  t.added_at
from tags t
left join v_session_titles s on t.entity_type = 'sessions' and s.session_label = t.entity_id
order by t.tag, t.entity_type, t.entity_id
