-- title: The folders of each session
-- question: In which folders did a session work, and does a log name a branch there?
-- why: Every question by project reads this; there are far fewer of these rows than turns.
-- grain: session and folder
-- column session_label: VARCHAR; the session; the turn itself where none has it
-- column workspace_path: VARCHAR; the root folder of the workspace of at least one of its turns
-- column is_repository: BOOLEAN; whether a log names a branch there
-- kept: by family with turns
select
  coalesce(o.session_label, t.id) as session_label,
  t.workspace_path,
  count(case when c.git_branch <> '' then 1 end) > 0 as is_repository
from turns t
left join turn_context c on c.turn_id = t.id
left join v_turn_owner o on o.turn_id = t.id
where t.workspace_path is not null
group by coalesce(o.session_label, t.id), t.workspace_path
