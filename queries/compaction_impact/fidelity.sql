-- title: Fidelity of summaries
-- question: How much of what it replaced does a summary name?
-- why: What the summary does not name, the model reads again, asks again, or forgets.
-- grain: compaction; with per=item, item that the summary does not name
-- params: filters
-- param per: text = compaction; what the rows are: one of compaction, item
-- column compacted_at: BIGINT; when, in Unix ms
-- column session_label: VARCHAR; the session it counts for
-- column turn_id: VARCHAR; the compaction's turn
-- column project: VARCHAR; the project of its turn, else of its session
-- column model: VARCHAR; the model that summarised; unknown when nothing tells
-- column summary_chars: BIGINT; length of the summary
-- column files: BIGINT; files that the summarised turns read or wrote
-- column files_named_share: DOUBLE; share of these whose name the summary has; NULL when there are none
-- column identifiers: BIGINT; identifiers in their prompts and answers
-- column identifiers_named_share: DOUBLE; share of these that the summary has; NULL when there are none
-- column todos: BIGINT; todos that were open at their end
-- column todos_named_share: DOUBLE; share of these with two of three words in the summary; NULL when there are none
-- column instructions: BIGINT; prompts of at most 400 characters
-- column instructions_named_share: DOUBLE; share of these with two of three words in the summary; NULL when there are none
-- column dropped: BIGINT; all of these that the summary does not name
-- column kind: VARCHAR; of the dropped item: file, identifier, todo, instruction; NULL unless per=item
-- column item: VARCHAR; the dropped item: path, identifier, or text; NULL unless per=item
-- column times: BIGINT; how often the summarised turns have it; NULL unless per=item
-- column basis: VARCHAR; estimated: words compared; NULL when there is nothing to compare
-- shown: turn_id, compacted_at, files_named_share, identifiers_named_share, todos_named_share, instructions_named_share, dropped, session_label, kind, item, times, files, identifiers, todos, instructions
-- empty: No compaction yet.
-- next: `aix compactions TURN --full` shows the summary and the files
-- caveat: Only words are compared: a summary may say the same in others, or have the words and not the sense.
-- caveat: A file is named when the words of its name stand together: of two files of one name, both are.
-- caveat: An identifier is a word of 6 to 60 characters with an underscore or a capital after a small letter.
-- caveat: Words of todos count from 4 characters, of instructions from 5; languages without spaces have no such words.
-- references: docs/compaction.md#fidelity; the items, and when a summary names one
with item_count as (
  select
    compaction_turn_id,
    count(case when kind = 'file' then 1 end) as files,
    count(case when kind = 'file' and is_named then 1 end) as named_files,
    count(case when kind = 'identifier' then 1 end) as identifiers,
    count(case when kind = 'identifier' and is_named then 1 end) as named_identifiers,
    count(case when kind = 'todo' then 1 end) as todos,
    count(case when kind = 'todo' and is_named then 1 end) as named_todos,
    count(case when kind = 'instruction' then 1 end) as instructions,
    count(case when kind = 'instruction' and is_named then 1 end) as named_instructions,
    count(case when not is_named then 1 end) as dropped
  from v_compaction_items
  group by compaction_turn_id
)
select
  c.compacted_at,
  c.session_label,
  c.turn_id,
  c.project,
  c.model,
  c.summary_chars,
  n.files,
  cast(n.named_files as double) / nullif(n.files, 0) as files_named_share,
  n.identifiers,
  cast(n.named_identifiers as double) / nullif(n.identifiers, 0) as identifiers_named_share,
  n.todos,
  cast(n.named_todos as double) / nullif(n.todos, 0) as todos_named_share,
  n.instructions,
  cast(n.named_instructions as double) / nullif(n.instructions, 0) as instructions_named_share,
  n.dropped,
  i.kind,
  i.item,
  i.times,
  case when n.compaction_turn_id is not null then 'estimated: words compared' end as basis
from v_counted_compactions c
left join item_count n on n.compaction_turn_id = c.turn_id
left join v_compaction_items i
  on coalesce(getvariable('per'), 'compaction') = 'item' and i.compaction_turn_id = c.turn_id and not i.is_named
where coalesce(getvariable('per'), 'compaction') <> 'item' or i.item is not null
order by c.compacted_at, c.turn_id, i.kind, i.times desc, i.item
