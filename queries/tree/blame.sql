-- title: Turns that touched a file
-- question: Which turns read and wrote a file, and how?
-- why: Finds the turn that a change comes from, and what the model had read before it.
-- grain: file, turn and kind of use
-- params: filters
-- param path: text = none; only this file: its whole path, or the end of one at a slash where no file has it as its whole path
-- column file_path: VARCHAR; the file
-- column turn_id: VARCHAR; the turn
-- column kind: VARCHAR; what was done with it: read, written, referenced, attached
-- column touched_at: BIGINT; when it was first touched so in the turn, in Unix ms; NULL where the log has no time
-- column tools: VARCHAR; the tools that did it, in alphabetical order; NULL when no call is known to have
-- column uses: BIGINT; messages and calls of the turn that touched it so
-- column line_start: BIGINT; the first line that is known to be touched; NULL when none is
-- column line_end: BIGINT; the last line that is known to be touched; NULL when none is
-- column basis: VARCHAR; log where the log names the file, command where only a shell command of the turn does
-- column session_label: VARCHAR; the session that the turn counts for
-- column project: VARCHAR; the project of the turn, else of its session
-- column model: VARCHAR; the model of the turn
-- column title: VARCHAR; the beginning of the turn's prompt on one line, else the title of its session
-- shown: turn_id, kind, file_path, touched_at, tools, title, session_label, uses
-- empty: No turn is known to have touched such a file.
-- next: `aix blame PATH` shows one file, `aix show TURN` one turn
-- caveat: Lines are those of the file as it was then.
-- caveat: Of shell commands only what their text names is known: `make` may write files that no row has.
-- caveat: What was denied, or did not run, is not listed.
-- references: docs/tree.md#which-turns-touched-a-file; how a file is named, and what counts as a use

-- Uses of files that logs name, by message.
with logged_use as (
  select
    m.turn_id, f.message_id as use_id, f.message_id, m.sequence, m.created_at, f.kind, f.file_path,
    f.line_start, f.line_end, 'log' as basis
  from message_files f
  join messages m on m.id = f.message_id
),
-- Uses that only a shell command names, by call.
command_use as (
  select
    k.turn_id, k.id as use_id, k.message_id, m.sequence, coalesce(m.created_at, k.started_at) as created_at,
    case when c.access = 'write' then 'written' else 'read' end as kind, c.target as file_path,
    cast(null as bigint) as line_start, cast(null as bigint) as line_end, 'command' as basis
  from call_targets c
  join tool_calls k on k.id = c.call_id
  left join messages m on m.id = k.message_id
  where c.class = 'exec' and c.kind = 'path' and c.access in ('read', 'write') and c.outcome = 'ran'
),
-- All of them. A path has the same name with either slash.
file_use as (
  select *, replace(file_path, '\', '/') as plain_path from logged_use
  union all
  select *, replace(file_path, '\', '/') as plain_path from command_use
),
-- Uses of what is asked for: of the whole path, where there is such a file.
wanted_use as (
  select u.*
  from file_use u
  where getvariable('path') is null
    or u.plain_path = replace(getvariable('path'), '\', '/')
    or (
      (
        right(u.plain_path, length(getvariable('path')) + 1) = '/' || replace(getvariable('path'), '\', '/')
        or left(replace(getvariable('path'), '\', '/'), 1) = '/'
          and right(u.plain_path, length(getvariable('path'))) = replace(getvariable('path'), '\', '/')
      )
      and not exists (select 1 from file_use w where w.plain_path = replace(getvariable('path'), '\', '/'))
    )
),
-- The tools of the calls that named these paths.
tool_of_use as (
  select distinct u.turn_id, u.kind, u.plain_path, c.tool_name
  from wanted_use u
  join tool_calls k on k.message_id = u.message_id
  join call_targets c on c.call_id = k.id
  where c.kind = 'path'
    and replace(c.target, '\', '/') = u.plain_path
    and (u.kind in ('referenced', 'attached') or c.access = case when u.kind = 'written' then 'write' else 'read' end)
),
-- Their names in one text.
tools_of_use as (
  select turn_id, kind, plain_path, string_agg(tool_name, ', ' order by tool_name) as tools
  from tool_of_use
  group by turn_id, kind, plain_path
),
-- One row for each file, turn and kind; what the log names goes before what a command does.
turn_use as (
  select
    turn_id, kind, plain_path,
    min_by(file_path, case when basis = 'log' then '0' else '1' end || file_path) as file_path,
    min(created_at) as touched_at,
    min(sequence) as sequence,
    count(distinct use_id) as uses,
    min(line_start) as line_start,
    max(coalesce(line_end, line_start)) as line_end,
    max(basis) as basis
  from wanted_use
  group by turn_id, kind, plain_path
),
-- Prompts; a message that a tool sent in the name of the user comes after what people typed.
prompt as (
  select
    m.turn_id,
    trim(replace(replace(replace(left(m.content, 1000), chr(13), ' '), chr(10), ' '), chr(9), ' ')) as content,
    case when m.source = 'event' then '1' else '0' end
      || right('0000000000' || cast(m.sequence as varchar), 10) || m.id as place
  from messages m
  join (select distinct turn_id from turn_use) u on u.turn_id = m.turn_id
  where m.role = 'user'
),
-- The first prompt of each turn.
first_prompt as (
  select turn_id, min_by(content, place) as content from prompt where content <> '' group by turn_id
)
select
  u.file_path,
  u.turn_id,
  u.kind,
  case when n.started_at is not null then u.touched_at end as touched_at,
  a.tools,
  u.uses,
  u.line_start,
  u.line_end,
  u.basis,
  n.session_label,
  n.project,
  t.model,
  coalesce(p.content, s.title) as title
from turn_use u
join v_turns_in_time n on n.turn_id = u.turn_id
join turns t on t.id = u.turn_id
left join tools_of_use a on a.turn_id = u.turn_id and a.kind = u.kind and a.plain_path = u.plain_path
left join first_prompt p on p.turn_id = u.turn_id
left join v_session_titles s on s.session_label = n.session_label
order by u.file_path, n.started_at nulls last, u.touched_at, u.turn_id, u.sequence nulls last, u.kind
