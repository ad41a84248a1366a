-- title: Tags
-- question: What has which tag?
-- why: Tags say what a log cannot: the customer, the sprint, the experiment that work was done for.
-- grain: tag and what has it
-- column tag: VARCHAR; the tag
-- column entity_type: VARCHAR; the table of what has it, such as sessions, turns, programs, messages
-- column entity_id: VARCHAR; its key there: the label of a session, the id of anything else
-- column title: VARCHAR; the title of the session, else the task that a subagent was given, else the beginning of its first prompt; the name of a program
-- column added_at: BIGINT; when the tag was first given, in Unix ms; NULL when an event without a time gave it
-- shown: tag, title, entity_type, entity_id, added_at
-- empty: Nothing is tagged.
-- next: `aix tag add TAG SESSION` tags a session
select
  t.tag,
  t.entity_type,
  t.entity_id,
  case
    when t.entity_type = 'programs'
      then coalesce(json_extract_string(p.config_json, '$.name'), json_extract_string(p.config_json, '$.title'))
    else s.title
  end as title,
  t.added_at
from v_tags t
left join v_session_titles s on t.entity_type = 'sessions' and s.session_label = t.entity_id
left join programs p on t.entity_type = 'programs' and p.id = t.entity_id
order by t.tag, t.entity_type, t.entity_id
