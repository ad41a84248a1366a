-- title: Two branches compared
-- question: What did each of two branches do after the fork?
-- why: Shows which of two attempts took more, and which files and tools each used.
-- grain: branch, and total, turn, tool or file of it
-- param a: text = none; the first branch: its last turn, or the label of a session
-- param b: text = none; the second branch: its last turn, or the label of a session
-- column side: VARCHAR; shared for what both have, else a or b
-- column kind: VARCHAR; all for the total of a side; of a and b also turn, tool and file
-- column name: VARCHAR; of all: the last turn of the side, for shared the turn at which they fork; else the turn, tool or file
-- column title: VARCHAR; of a turn: the beginning of its prompt on one line; NULL without any
-- column position: BIGINT; of all and turn: place of this turn in its thread, from 1
-- column first_at: BIGINT; when the first turn of the row began, in Unix ms; NULL where the log has no time
-- column last_at: BIGINT; when the last turn of the row began, in Unix ms; NULL where the log has no time
-- column turns: BIGINT; turns of the row
-- column failed_turns: BIGINT; those of them that failed
-- column compactions: BIGINT; those of them that are compactions
-- column tool_calls: BIGINT; calls of the turns; of a tool: its calls; NULL for files
-- column reads: BIGINT; messages that read the file; in all and turn of any file; NULL for tools
-- column writes: BIGINT; messages that wrote the file; in all and turn of any file; NULL for tools
-- column cost_usd: DECIMAL(38,12); of all and turn: list price of the tokens of their requests; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the output estimated where its count is not final
-- column unpriced_requests: BIGINT; of all and turn: requests with tokens that have no price
-- column subagents: BIGINT; of all and turn: subagents that were started, at any depth
-- column subagents_cost_usd: DECIMAL(38,12); what these cost; NULL when none is priced
-- column subagents_cost_estimated_usd: DECIMAL(38,12); the same with the output estimated
-- column subagents_unpriced_requests: BIGINT; their requests with tokens that have no price
-- shown: side, kind, name, turns, cost_usd, tool_calls, reads, writes, title
-- empty: Name two branches with a and b.
-- next: `aix diff A B` names sessions and turns by short names
-- caveat: Without a row shared, the branches share no turn.
-- caveat: Costs are those of the turns' own requests; work of subagents is in the columns subagents_… alone.
-- caveat: Files are those that logs name; `aix blame` adds what shell commands name.
-- references: docs/tree.md#compare-two-branches; what is counted

-- The last turn of each branch.
with tip as (
  select 'a' as side,
    coalesce((select max(thread_id) from sessions where label = getvariable('a')), getvariable('a')) as turn_id
  union all
  select 'b' as side,
    coalesce((select max(thread_id) from sessions where label = getvariable('b')), getvariable('b')) as turn_id
),
-- A session on whose way to its head the turn lies: up to the turn, the way is the same in all.
through as (
  select t.side, min(w.session_label) as session_label, max(w.position) as position
  from tip t
  join v_session_turns w on w.turn_id = t.turn_id
  group by t.side
),
-- Every turn of the two branches, with the side that it is on.
sided_turn as (
  select
    w.turn_id,
    max(w.position) as position,
    case when count(*) > 1 then 'shared' else min(s.side) end as side
  from through s
  join v_session_turns w on w.session_label = s.session_label
  where w.position <= s.position
  group by w.turn_id
),
-- Turns whose times were made up because the log has none.
undated_turn as (
  select distinct row_key as turn_id
  from inferred_values
  where table_name = 'turns' and column_name = 'started_at' and basis = 'undated'
),
-- Files of these turns, by message.
file_use as (
  select s.side, s.turn_id, f.message_id, f.file_path, f.kind
  from sided_turn s
  join messages m on m.turn_id = s.turn_id
  join message_files f on f.message_id = m.id
  where f.kind in ('read', 'written')
  group by s.side, s.turn_id, f.message_id, f.file_path, f.kind
),
-- Uses of files by turn.
use_by_turn as (
  select
    turn_id,
    count(distinct case when kind = 'read' then message_id end) as reads,
    count(distinct case when kind = 'written' then message_id end) as writes
  from file_use
  group by turn_id
),
-- The facts of each turn.
turn_fact as (
  select
    s.side, s.turn_id, s.position,
    case when u.turn_id is null then t.started_at end as started_at,
    case when t.status = 'failed' then 1 else 0 end as failed,
    case when t.turn_type = 'compaction' then 1 else 0 end as compacted,
    coalesce(t.tool_call_count, 0) as tool_calls,
    coalesce(f.reads, 0) as reads,
    coalesce(f.writes, 0) as writes,
    c.cost_usd, c.cost_estimated_usd, coalesce(c.unpriced_requests, 0) as unpriced_requests,
    coalesce(c.subagents, 0) as subagents, c.subagents_cost_usd, c.subagents_cost_estimated_usd,
    coalesce(c.subagents_unpriced_requests, 0) as subagents_unpriced_requests
  from sided_turn s
  join turns t on t.id = s.turn_id
  left join undated_turn u on u.turn_id = s.turn_id
  left join use_by_turn f on f.turn_id = s.turn_id
  left join v_turn_costs c on c.turn_id = s.turn_id
),
-- Prompts of the turns after the fork; one that a tool sent in the name of the user comes after what people typed.
prompt as (
  select
    m.turn_id,
    trim(replace(replace(replace(left(m.content, 1000), chr(13), ' '), chr(10), ' '), chr(9), ' ')) as content,
    case when m.source = 'event' then '1' else '0' end
      || right('0000000000' || cast(m.sequence as varchar), 10) || m.id as place
  from messages m
  join sided_turn s on s.turn_id = m.turn_id
  where m.role = 'user' and s.side <> 'shared'
),
-- The first prompt of each turn.
first_prompt as (
  select turn_id, min_by(content, place) as content from prompt where content <> '' group by turn_id
),
-- All rows; NULL where a figure means nothing.
compared as (
  select
    side, 'all' as kind, max_by(turn_id, position) as name, cast(null as varchar) as title, max(position) as position,
    min(started_at) as first_at, max(started_at) as last_at, count(*) as turns, sum(failed) as failed_turns,
    sum(compacted) as compactions, sum(tool_calls) as tool_calls, sum(reads) as reads, sum(writes) as writes,
    sum(cost_usd) as cost_usd, sum(cost_estimated_usd) as cost_estimated_usd,
    sum(unpriced_requests) as unpriced_requests, sum(subagents) as subagents,
    sum(subagents_cost_usd) as subagents_cost_usd, sum(subagents_cost_estimated_usd) as subagents_cost_estimated_usd,
    sum(subagents_unpriced_requests) as subagents_unpriced_requests
  from turn_fact
  group by side
  union all
  select
    f.side, 'turn', f.turn_id, p.content, f.position, f.started_at, f.started_at, 1, f.failed, f.compacted,
    f.tool_calls, f.reads, f.writes, f.cost_usd, f.cost_estimated_usd, f.unpriced_requests, f.subagents,
    f.subagents_cost_usd, f.subagents_cost_estimated_usd, f.subagents_unpriced_requests
  from turn_fact f
  left join first_prompt p on p.turn_id = f.turn_id
  where f.side <> 'shared'
  union all
  select
    f.side, 'tool', k.tool_name, null, null, min(f.started_at), max(f.started_at), count(distinct f.turn_id), null,
    null, count(*), null, null, null, null, null, null, null, null, null
  from turn_fact f
  join tool_calls k on k.turn_id = f.turn_id
  where f.side <> 'shared'
  group by f.side, k.tool_name
  union all
  select
    u.side, 'file', u.file_path, null, null, min(f.started_at), max(f.started_at), count(distinct u.turn_id), null,
    null, null, count(case when u.kind = 'read' then 1 end), count(case when u.kind = 'written' then 1 end),
    null, null, null, null, null, null, null
  from file_use u
  join turn_fact f on f.turn_id = u.turn_id
  where u.side <> 'shared'
  group by u.side, u.file_path
)
select
  side, kind, name, title, position, first_at, last_at,
  cast(turns as bigint) as turns,
  cast(failed_turns as bigint) as failed_turns,
  cast(compactions as bigint) as compactions,
  cast(tool_calls as bigint) as tool_calls,
  cast(reads as bigint) as reads,
  cast(writes as bigint) as writes,
  cast(cost_usd as decimal(38, 12)) as cost_usd,
  cast(cost_estimated_usd as decimal(38, 12)) as cost_estimated_usd,
  cast(unpriced_requests as bigint) as unpriced_requests,
  cast(subagents as bigint) as subagents,
  cast(subagents_cost_usd as decimal(38, 12)) as subagents_cost_usd,
  cast(subagents_cost_estimated_usd as decimal(38, 12)) as subagents_cost_estimated_usd,
  cast(subagents_unpriced_requests as bigint) as subagents_unpriced_requests
from compared
order by
  case kind when 'all' then 0 when 'turn' then 1 when 'tool' then 2 else 3 end,
  case side when 'shared' then 0 when 'a' then 1 else 2 end,
  position,
  tool_calls desc nulls last,
  writes desc nulls last,
  name
