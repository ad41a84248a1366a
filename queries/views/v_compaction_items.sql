-- title: What a summary could have named
-- question: Which files, identifiers, open todos and instructions do the summarised turns hold, and does the summary name them?
-- why: What a summary does not name is gone for the model; to compare texts takes longer than to count what came of it.
-- grain: compaction and item
-- column compaction_turn_id: VARCHAR; the compaction
-- column kind: VARCHAR; one of file, identifier, todo, instruction
-- column item: VARCHAR; path, identifier, or text without line breaks
-- column times: BIGINT; how often the summarised turns have it
-- column is_named: BOOLEAN; whether the summary has the words of a file's name, the identifier, or two of three words of a text
-- caveat: Only words are compared: a summary may say the same in others, or have the words and not the sense.
-- caveat: Of a message the first 20,000 characters count, and of prompts only those of at most 400, which are instructions.
-- caveat: Without a summary's text there is nothing to compare, and no row.
-- references: docs/compaction.md#fidelity; the items, and when a summary names one
-- kept: by family with compactions

-- The words of each summary in small letters, with one space around each.
with summary as (
  select
    turn_id as compaction_turn_id,
    first_kept_turn_id,
    ' ' || regexp_replace(lower(summary), '[^\p{L}\p{N}_]+', ' ', 'g') || ' ' as words
  from compactions
  where summary <> ''
),
-- Each word of a summary once.
summary_word as (
  select compaction_turn_id, word
  from (select compaction_turn_id, unnest(string_split(words, ' ')) as word from summary)
  group by compaction_turn_id, word
),
-- One session stands for all whose way leads through the compaction.
compaction_session as (
  select s.compaction_turn_id, min(w.session_label) as session_label
  from summary s
  join v_session_turns w on w.turn_id = s.compaction_turn_id
  group by s.compaction_turn_id
),
-- The turns that the summary replaces; those that were kept as they were are left out.
summarised_turn as (
  select k.compaction_turn_id, w.session_label, k.turn_id, k.distance
  from summary s
  join compaction_session w on w.compaction_turn_id = s.compaction_turn_id
  join v_compaction_turns k on k.compaction_turn_id = s.compaction_turn_id
  left join v_compaction_turns f on f.compaction_turn_id = s.compaction_turn_id and f.turn_id = s.first_kept_turn_id
  where k.distance < coalesce(f.distance, 0)
),
-- Prompts and answers of these turns.
summarised_text as (
  select s.compaction_turn_id, m.role, m.content
  from summarised_turn s
  join messages m on m.turn_id = s.turn_id
  where m.role in ('user', 'assistant') and coalesce(m.source, 'human') <> 'event' and m.content <> ''
),
-- Files that these turns read or wrote.
touched_file as (
  select s.compaction_turn_id, f.file_path as item, count(*) as times
  from summarised_turn s
  join messages m on m.turn_id = s.turn_id
  join message_files f on f.message_id = m.id
  where f.kind in ('read', 'written')
  group by s.compaction_turn_id, f.file_path
),
-- The words of a file's name, to be found in the summary.
file_name as (
  select
    *,
    regexp_replace(lower(regexp_extract(item, '[^/\\]+$')), '[^\p{L}\p{N}_]+', ' ', 'g') as words
  from touched_file
),
-- Words that look like names in code.
identifier as (
  select compaction_turn_id, item, count(*) as times
  from (
    select
      compaction_turn_id,
      unnest(
        regexp_extract_all(
          substr(content, 1, 20000), '[A-Za-z0-9]*(?:[a-z0-9][A-Z]|_+[A-Za-z0-9])[A-Za-z0-9_]*'
        )
      ) as item
    from summarised_text
  )
  where length(item) between 6 and 60 and not regexp_matches(item, '^[0-9]')
  group by compaction_turn_id, item
),
-- Calls of tools that keep lists of todos or tasks, on the way to each session's head.
todo_call as (
  select w.session_label, w.turn_id, w.position, c.id, c.sequence, c.tool_name, c.status, c.params_json
  from v_session_turns w
  join tool_calls c on c.turn_id = w.turn_id
  where c.tool_name in ('TodoWrite', 'todo_write', 'TaskCreate', 'TaskUpdate')
),
-- Lists that were written as a whole, the last one first.
todo_list as (
  select
    s.compaction_turn_id,
    c.params_json,
    row_number() over (partition by s.compaction_turn_id order by s.distance desc, c.sequence desc, c.id) as place
  from summarised_turn s
  join todo_call c on c.turn_id = s.turn_id and c.session_label = s.session_label
  where c.tool_name in ('TodoWrite', 'todo_write')
),
-- The last list of each compaction, and how many entries it has.
todo_count as (
  select
    compaction_turn_id,
    params_json,
    cast(json_array_length(json_extract(params_json, '$.todos')) as bigint) as entries
  from todo_list
  where place = 1
),
-- One row for each entry.
todo_place as (
  select compaction_turn_id, params_json, unnest(generate_series(0, entries - 1)) as place
  from todo_count
  where entries > 0
),
-- Its text and state.
todo_entry as (
  select
    compaction_turn_id,
    json_extract_string(params_json, '$.todos[' || place || '].content') as item,
    json_extract_string(params_json, '$.todos[' || place || '].status') as status
  from todo_place
),
-- Tools that change one task at a time: the number of the task, and what the call says of it.
task_call as (
  select
    session_label,
    turn_id,
    sequence,
    json_extract_string(params_json, '$.subject') as subject,
    case when tool_name = 'TaskCreate' then 'pending' else json_extract_string(params_json, '$.status') end as status,
    -- A task's name is its number in the session. Results say it too, but they are the longest texts of all.
    case
      when tool_name = 'TaskCreate'
        then cast(
          count(case when tool_name = 'TaskCreate' then 1 end) over (
            partition by session_label order by position, sequence, id rows unbounded preceding
          ) as varchar
        )
      else json_extract_string(params_json, '$.taskId')
    end as task
  from todo_call
  where tool_name in ('TaskCreate', 'TaskUpdate') and status = 'completed'
),
-- Changes by task, the last one that names a state first.
task_change as (
  select
    s.compaction_turn_id,
    c.task,
    c.subject,
    c.status,
    row_number() over (
      partition by s.compaction_turn_id, c.task
      order by case when c.status is null then 1 else 0 end, s.distance desc, c.sequence desc
    ) as place
  from summarised_turn s
  join task_call c on c.turn_id = s.turn_id and c.session_label = s.session_label
),
-- Each task with its last known state.
task as (
  select compaction_turn_id, max(subject) as item, max(case when place = 1 then status end) as status
  from task_change
  group by compaction_turn_id, task
),
-- Open todos and tasks, and short prompts, with the length from which their words count.
phrase as (
  select compaction_turn_id, 'todo' as kind, 4 as word_length, item, count(*) as times
  from (select * from todo_entry union all select * from task)
  where item is not null and status not in ('completed', 'cancelled', 'deleted')
  group by compaction_turn_id, item
  union all
  select compaction_turn_id, 'instruction' as kind, 5 as word_length, content as item, count(*) as times
  from summarised_text
  where role = 'user' and length(content) <= 400 and not starts_with(content, '<')
  group by compaction_turn_id, content
),
-- The words of each of these, once.
phrase_word as (
  select compaction_turn_id, kind, item, times, word
  from (
    select
      compaction_turn_id,
      kind,
      item,
      times,
      word_length,
      unnest(string_split(regexp_replace(lower(item), '[^\p{L}\p{N}_]+', ' ', 'g'), ' ')) as word
    from phrase
  )
  where length(word) >= word_length
  group by compaction_turn_id, kind, item, times, word
)
select f.compaction_turn_id, 'file' as kind, f.item, f.times, contains(s.words, ' ' || trim(f.words) || ' ') as is_named
from file_name f
join summary s on s.compaction_turn_id = f.compaction_turn_id
where trim(f.words) <> ''
union all
select i.compaction_turn_id, 'identifier' as kind, i.item, i.times, w.word is not null as is_named
from identifier i
left join summary_word w on w.compaction_turn_id = i.compaction_turn_id and w.word = lower(i.item)
union all
select
  p.compaction_turn_id,
  p.kind,
  regexp_replace(substr(p.item, 1, 400), '\s+', ' ', 'g') as item,
  p.times,
  3 * count(w.word) >= 2 * count(*) as is_named
from phrase_word p
left join summary_word w on w.compaction_turn_id = p.compaction_turn_id and w.word = p.word
group by p.compaction_turn_id, p.kind, p.item, p.times
