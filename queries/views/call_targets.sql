-- title: The targets of calls, with all that is known about each call
-- question: Who touched what, when, where, in which mode, and what came of it?
-- why: Every audit is a question to these rows.
-- grain: call and target
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
-- column is_outside: BOOLEAN; of a path: whether it lies outside the workspace; NULL when that cannot be told
-- column outcome: VARCHAR; ran, failed, interrupted, pending, unknown, not_granted, denied_user, denied_rule, denied_mode, denied_hook, denied_directory
-- column is_denied: BOOLEAN; whether the outcome is a denial: not_granted or one of denied_…
-- column evidence: VARCHAR; the text or field of the log that shows the outcome
-- column evidence_basis: VARCHAR; text where the log's words show it, field where a field does, inference where it was concluded
-- column splitter_version: BIGINT; version of what split it
-- caveat: A grant is never claimed: `ran` is what the log shows, whoever allowed it.
-- references: docs/permissions.md#what-a-call-touched; targets, and how commands are split
-- kept: by family with permission_decisions
select
  d.call_id,
  coalesce(p.number, 0) as number,
  coalesce(k.started_at, t.started_at) as called_at,
  d.turn_id,
  v.session_label,
  v.origin,
  coalesce(s.is_subagent = 1, false) as is_subagent,
  b.raw_target as agent_type,
  t.workspace_path as cwd,
  v.session_project,
  x.git_branch,
  v.model,
  d.mode,
  k.tool_name,
  d.class,
  p.kind,
  p.access,
  p.target,
  p.program,
  p.subcommand,
  p.command,
  p.wrappers,
  p.detail,
  p.is_outside,
  d.outcome,
  d.outcome in (
    'not_granted', 'denied_directory', 'denied_mode', 'denied_hook', 'denied_rule', 'denied_user'
  ) as is_denied,
  d.evidence,
  case
    when d.evidence is null then null
    when coalesce(d.is_inferred, false) then 'inference'
    when regexp_matches(d.evidence, '^[A-Za-z_.]+(: [A-Za-z_-]+)?$') then 'field'
    else 'text'
  end as evidence_basis,
  p.splitter_version
from permission_decisions d
join tool_calls k on k.id = d.call_id
join turns t on t.id = d.turn_id
left join turn_context x on x.turn_id = d.turn_id
left join v_calls v on v.call_id = d.call_id
left join sessions s on s.label = v.session_label
left join permission_decisions b on b.call_id = s.spawn_tool_call_id
left join call_parts p on p.call_id = d.call_id
