-- title: The targets that a question counts
-- question: Which targets fall into the time, project, origin, model, session and tag that were asked for?
-- why: Every audit looks at these rows, so that the same filters mean the same everywhere.
-- grain: call and target
-- params: filters
-- column call_id: VARCHAR; the call
-- column number: BIGINT; place of the target within the call, from 0
-- column called_at: BIGINT; when it was called, in Unix ms
-- column turn_id: VARCHAR; the turn that made it
-- column session_label: VARCHAR; the session it counts for: the owner of its turn
-- column origin: VARCHAR; where that session came from
-- column is_subagent: BOOLEAN; whether a subagent made it
-- column agent_type: VARCHAR; the kind of subagent, as the call that started it names it
-- column cwd: VARCHAR; the folder that its turn worked in
-- column session_project: VARCHAR; the project that its session names
-- column git_branch: VARCHAR; the branch checked out when its turn began
-- column model: VARCHAR; the model that asked for it
-- column mode: VARCHAR; the permission mode in force, in the tool's word
-- column tool_name: VARCHAR; the tool
-- column class: VARCHAR; what kind of access it was: read, write, exec, net, mcp, spawn, ask, meta; NULL for an unknown tool
-- column kind: VARCHAR; what the target is: command, path, host, server, agent, search, name; NULL when the call names none
-- column access: VARCHAR; what was done with the target: read, write, exec, net, mcp, spawn, ask, meta
-- column target: VARCHAR; program and subcommand, normalised path, host, server, kind of agent
-- column program: VARCHAR; of a command: the program
-- column subcommand: VARCHAR; of a command: the subcommand of a program that has some
-- column command: VARCHAR; of a command: as it is written, at most 2,000 characters
-- column wrappers: VARCHAR; of a command: what runs it, such as sudo or xargs
-- column detail: VARCHAR; of a server: its tool
-- column outcome: VARCHAR; ran, failed, interrupted, pending, unknown, not_granted, denied_user, denied_rule, denied_mode, denied_hook, denied_directory
-- column is_denied: BOOLEAN; whether the outcome is a denial: not_granted or one of denied_…
-- column evidence: VARCHAR; the text or field of the log that shows the outcome
-- column evidence_basis: VARCHAR; text where the log's words show it, field where a field does, inference where it was concluded
-- column splitter_version: BIGINT; version of what split it
-- column is_outside: BOOLEAN; of a path: whether it lies outside the workspace and its repository; NULL when that cannot be told
-- column project: VARCHAR; the project of its turn, else of its session
select
  r.* exclude (is_outside),
  -- Who works in a sub folder of a repository may work in all of it.
  case
    when r.is_outside and left(r.target, length(w.project) + 1) in (w.project || '/', w.project || '\') then false
    else r.is_outside
  end as is_outside,
  coalesce(w.project, r.cwd, r.session_project) as project
from call_targets r
left join v_workspaces w on w.workspace_path = r.cwd
left join v_tagged t on t.entity_type = 'turns' and t.entity_id = r.turn_id
left join v_tagged s on s.entity_type = 'sessions' and s.entity_id = r.session_label
where (getvariable('since') is null or r.called_at >= getvariable('since'))
  and (getvariable('until') is null or r.called_at < getvariable('until'))
  and (getvariable('model') is null or contains(lower(r.model), lower(getvariable('model'))))
  and (getvariable('origin') is null or r.origin = getvariable('origin'))
  and (getvariable('session') is null or r.session_label = getvariable('session'))
  and (
    getvariable('project') is null
    or contains(lower(coalesce(w.project, r.cwd, r.session_project)), lower(getvariable('project')))
  )
  and (getvariable('tag') is null or t.entity_id is not null or s.entity_id is not null)
