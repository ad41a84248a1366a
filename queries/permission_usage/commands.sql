-- title: Commands
-- question: Which programs were run, and what came of it?
-- why: Settings can allow only what has a name, and this is the list of the names.
-- grain: program and subcommand
-- params: filters
-- column program: VARCHAR; the program, at most 200 characters
-- column subcommand: VARCHAR; the subcommand of a program that has some
-- column calls: BIGINT; calls
-- column ran: BIGINT; of these, calls that ran
-- column failed: BIGINT; calls that failed
-- column denied: BIGINT; calls that were denied
-- column sessions: BIGINT; sessions
-- column first_called_at: BIGINT; the first call, in Unix ms
-- column last_called_at: BIGINT; the last call, in Unix ms
-- column wrappers: VARCHAR; what ran it, such as sudo or xargs, with commas; NULL when nothing did
-- shown: program, subcommand, calls, ran, failed, denied, sessions, last_called_at
-- empty: No command was run.
-- next: `aix query risky_calls` lists the risky ones
-- caveat: A call with several commands counts in the row of each: never add the rows up.
-- caveat: Commands are read as they are written: what a script or an alias runs is not seen.
with command_call as (
  select
    left(program, 200) as program, left(subcommand, 200) as subcommand, call_id,
    min(outcome) as outcome,
    bool_or(is_denied) as is_denied,
    min(session_label) as session_label,
    min(called_at) as called_at
  from v_counted_targets
  where kind = 'command'
  group by left(program, 200), left(subcommand, 200), call_id
),
command_wrappers as (
  select program, subcommand, string_agg(wrappers, ', ' order by wrappers) as wrappers
  from (
    select left(program, 200) as program, left(subcommand, 200) as subcommand, wrappers
    from v_counted_targets
    where kind = 'command' and wrappers <> ''
    group by left(program, 200), left(subcommand, 200), wrappers
  ) distinct_wrappers
  group by program, subcommand
),
command_totals as (
  select
    program, subcommand,
    count(*) as calls,
    count(case when outcome = 'ran' then 1 end) as ran,
    count(case when outcome = 'failed' then 1 end) as failed,
    count(case when is_denied then 1 end) as denied,
    count(distinct session_label) as sessions,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at
  from command_call
  group by program, subcommand
)
select c.*, w.wrappers
from command_totals c
left join command_wrappers w on w.program = c.program and coalesce(w.subcommand, '') = coalesce(c.subcommand, '')
order by c.calls desc, c.program, c.subcommand nulls first
