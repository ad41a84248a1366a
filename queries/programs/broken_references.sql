-- title: References that lead nowhere or in a circle
-- question: Which references between programs lead nowhere?
-- why: An agent without its tool, or a schema that checks itself, fails only when it runs.
-- grain: problem, source_table, source_id, field and target_id
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column problem: VARCHAR; one of missing, itself, cycle
-- column source_table: VARCHAR; one of programs, program_events
-- column source_id: VARCHAR; the program or event that holds the reference
-- column field: VARCHAR; the field that holds it
-- column target_id: VARCHAR; the program that it names
-- shown: reason, severity, source_id, field, target_id
-- empty: Every reference leads to a program.
-- next: `aix program show ID` shows one program with its references
-- caveat: Only references in fields of the same name make a cycle: an agent may name its task, and the task its agent.
-- caveat: Cycles of up to 32 programs are found.
-- caveat: A program that an event happened to is not missing, even if no file of programs describes it.
-- remedy: Let the reference name another program, or define the one that is missing.
-- rows: only with programs, program_events

-- All references, read once.
with reference as (
  select * from v_program_references
),
-- References between programs, each once.
link as (
  select field, source_id, target_id
  from reference
  where source_table = 'programs' and target_type is not null and source_id <> target_id
  group by field, source_id, target_id
),
-- Programs that each leads to in at most 2 steps.
within_2 as (
  select field, source_id, target_id from link
  union
  select a.field, a.source_id, b.target_id from link a join link b on b.field = a.field and b.source_id = a.target_id
),
-- In at most 4 steps.
within_4 as (
  select field, source_id, target_id from within_2
  union
  select a.field, a.source_id, b.target_id
  from within_2 a join within_2 b on b.field = a.field and b.source_id = a.target_id
),
-- In at most 8 steps.
within_8 as (
  select field, source_id, target_id from within_4
  union
  select a.field, a.source_id, b.target_id
  from within_4 a join within_4 b on b.field = a.field and b.source_id = a.target_id
),
-- In at most 16 steps.
within_16 as (
  select field, source_id, target_id from within_8
  union
  select a.field, a.source_id, b.target_id
  from within_8 a join within_8 b on b.field = a.field and b.source_id = a.target_id
),
-- References that lead back to where they start, in at most 16 steps or in twice as many.
circular as (
  select l.field, l.source_id, l.target_id
  from link l
  join within_16 w on w.field = l.field and w.source_id = l.target_id and w.target_id = l.source_id
  union
  select l.field, l.source_id, l.target_id
  from link l
  join within_16 a on a.field = l.field and a.source_id = l.target_id
  join within_16 b on b.field = a.field and b.source_id = a.target_id and b.target_id = l.source_id
),
-- Programs that only events describe.
known_by_event as (
  select program_id from program_events where program_id is not null group by program_id
),
-- All of these.
finding as (
  select 'missing' as problem, r.source_table, r.source_id, r.field, r.target_id
  from reference r
  left join known_by_event e on e.program_id = r.target_id
  where not r.is_resolved and e.program_id is null
  union all
  select 'itself', source_table, source_id, field, target_id
  from reference
  where source_table = 'programs' and source_id = target_id
  union all
  select 'cycle', 'programs', source_id, field, target_id from circular
)
select
  left(f.source_id, 200) as resource,
  'alarm' as status,
  '`' || case when f.source_table = 'program_events' then coalesce(e.kind || ' of ', 'Event of ') else '' end
    || replace(coalesce(n.name, left(e.program_id, 40), left(f.source_id, 40)), '`', '''') || '`: ' || f.field
    || case f.problem
      when 'missing' then ' names ' || left(f.target_id, 100) || ', which does not exist.'
      when 'itself' then ' names the program itself.'
      else ' names ' || coalesce(t.name, f.target_id) || ', which leads back to it.'
    end as reason,
  case f.problem when 'missing' then 'low' else 'medium' end as severity,
  f.problem, f.source_table, f.source_id, f.field, f.target_id
from finding f
left join program_events e on f.source_table = 'program_events' and e.event_id = f.source_id
left join v_program_names n on n.program_id = coalesce(e.program_id, f.source_id)
left join v_program_names t on t.program_id = f.target_id
order by case f.problem when 'missing' then 1 else 0 end, f.problem, f.source_table, f.source_id, f.field, f.target_id
