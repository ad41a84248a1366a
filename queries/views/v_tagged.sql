-- title: What has the tag that a question asks for
-- question: Which turns and sessions have this tag?
-- why: Whatever is counted by turn or session is narrowed by a tag in the same way.
-- grain: turn or session
-- param tag: text = none; only turns and sessions with this tag
-- column entity_type: VARCHAR; one of turns, sessions
-- column entity_id: VARCHAR; the turn, or the label of the session
-- caveat: Without a tag that is asked for there are no rows.
select entity_type, entity_id
from v_work_tags
where tag = getvariable('tag')
group by entity_type, entity_id
