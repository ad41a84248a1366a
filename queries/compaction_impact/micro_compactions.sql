-- title: Micro-compactions
-- question: When were old results cleared without a summary?
-- why: They cut the context inside a turn, unseen, and put off the compaction.
-- grain: micro-compaction
-- params: filters
-- column compacted_at: BIGINT; when, in Unix ms
-- column session_label: VARCHAR; the session it counts for
-- column turn_id: VARCHAR; the turn that was running
-- column message_id: VARCHAR; the message that tells of it
-- column project: VARCHAR; the project of its turn, else of its session
-- column origin: VARCHAR; where that session came from
-- column client_version: VARCHAR; version of the tool that wrote the log
-- column model: VARCHAR; the model of the last request before it
-- column trigger: VARCHAR; why: context_limit, manual; NULL when the log does not say
-- column tokens_before: BIGINT; reported: whole input of the last request before it; NULL when there is none
-- column messages_tokens_before: BIGINT; stated by the log: the messages alone, without system prompt and tools
-- column tokens_saved: BIGINT; stated by the log: what was cleared
-- column reduction: DOUBLE; computed: saved as a share of the whole context before; NULL when unknown
-- column cleared_calls: BIGINT; tool calls whose results were cleared
-- column cleared_attachments: BIGINT; attachments that were cleared
-- shown: turn_id, compacted_at, tokens_saved, reduction, tokens_before, cleared_calls, session_label, model
-- empty: No results were cleared without a summary.
-- next: `aix show TURN` shows the turn
-- caveat: They are no turns and no summaries: what was cleared is gone from the context, not retold.
-- caveat: Only some versions of a tool write of them.
select
  m.compacted_at,
  m.session_label,
  m.turn_id,
  m.message_id,
  coalesce(w.project, m.workspace_path, m.session_project) as project,
  m.origin,
  m.client_version,
  m.model,
  m.trigger,
  m.tokens_before,
  m.messages_tokens_before,
  m.tokens_saved,
  cast(m.tokens_saved as double) / nullif(cast(m.tokens_before as double), 0) as reduction,
  m.cleared_calls,
  m.cleared_attachments
from v_micro_compactions m
left join v_workspaces w on w.workspace_path = m.workspace_path
left join v_tagged t on t.entity_type = 'turns' and t.entity_id = m.turn_id
left join v_tagged s on s.entity_type = 'sessions' and s.entity_id = m.session_label
where (getvariable('since') is null or m.compacted_at >= getvariable('since'))
  and (getvariable('until') is null or m.compacted_at < getvariable('until'))
  and (getvariable('model') is null or contains(lower(m.model), lower(getvariable('model'))))
  and (getvariable('origin') is null or m.origin = getvariable('origin'))
  and (getvariable('session') is null or m.session_label = getvariable('session'))
  and (
    getvariable('project') is null
    or contains(lower(coalesce(w.project, m.workspace_path, m.session_project)), lower(getvariable('project')))
  )
  and (getvariable('tag') is null or t.entity_id is not null or s.entity_id is not null)
order by m.compacted_at, m.message_id
