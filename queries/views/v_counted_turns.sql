-- title: The turns that a question counts
-- question: Which turns fall into the project, origin, model, session and tag that were asked for?
-- why: What is said in a turn counts where the turn does; when it was said is for the question to look at.
-- grain: turn
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column turn_id: VARCHAR; the turn
-- column started_at: BIGINT; when it began, in Unix ms
-- column model: VARCHAR; its model
-- column session_label: VARCHAR; the session it counts for: its owner
-- column origin: VARCHAR; where that session came from
-- column routing_key: VARCHAR; the key by which messages are routed to that session
-- column project: VARCHAR; the project of the turn, else of its session
select
  n.id as turn_id,
  n.started_at,
  n.model,
  o.session_label,
  s.origin,
  s.routing_key,
  coalesce(w.project, n.workspace_path, c.project) as project
from turns n
left join v_turn_owner o on o.turn_id = n.id
left join sessions s on s.label = o.session_label
left join session_context c on c.label = o.session_label
left join v_workspaces w on w.workspace_path = n.workspace_path
left join v_tagged t on t.entity_type = 'turns' and t.entity_id = n.id
left join v_tagged y on y.entity_type = 'sessions' and y.entity_id = o.session_label
where (getvariable('model') is null or contains(lower(n.model), lower(getvariable('model'))))
  and (getvariable('origin') is null or s.origin = getvariable('origin'))
  and (getvariable('session') is null or o.session_label = getvariable('session'))
  and (
    getvariable('project') is null
    or contains(lower(coalesce(w.project, n.workspace_path, c.project)), lower(getvariable('project')))
  )
  and (getvariable('tag') is null or t.entity_id is not null or y.entity_id is not null)
