-- title: What each call touched
-- question: Which commands, paths, hosts, servers and agents did a call name?
-- why: Rules, risks and inventories are about these, not about the line that a tool was given.
-- grain: call and target
-- column call_id: VARCHAR; the call
-- column number: BIGINT; place of the target within the call, from 0
-- column kind: VARCHAR; what it is: command, path, host, server, agent, search, name
-- column access: VARCHAR; what was done with it: read, write, exec, net, mcp, spawn, ask, meta
-- column target: VARCHAR; program and subcommand, normalised path, host, server, kind of agent
-- column program: VARCHAR; of a command: the program
-- column subcommand: VARCHAR; of a command: the subcommand of a program that has some
-- column command: VARCHAR; of a command: as it is written, at most 2,000 characters
-- column wrappers: VARCHAR; of a command: what runs it, such as sudo or xargs
-- column detail: VARCHAR; of a server: its tool
-- column is_outside: BOOLEAN; of a path: whether it lies outside the workspace; NULL when that cannot be told
-- column splitter_version: BIGINT; version of what split it
-- kept: by family with permission_decisions
-- derived: a parser of shell grammar splits the commands
select
  cast(null as varchar) as call_id,
  cast(null as bigint) as number,
  cast(null as varchar) as kind,
  cast(null as varchar) as access,
  cast(null as varchar) as target,
  cast(null as varchar) as program,
  cast(null as varchar) as subcommand,
  cast(null as varchar) as command,
  cast(null as varchar) as wrappers,
  cast(null as varchar) as detail,
  cast(null as boolean) as is_outside,
  cast(null as bigint) as splitter_version
where false
