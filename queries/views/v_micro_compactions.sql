-- title: Each micro-compaction with the context it found
-- question: When were old results cleared from a context, and how much was saved?
-- why: They are messages of a running turn among very many others; to find them takes long.
-- grain: micro-compaction
-- column message_id: VARCHAR; the message that tells of it
-- column turn_id: VARCHAR; the turn that was running
-- column session_label: VARCHAR; the session it counts for
-- column origin: VARCHAR; where that session came from
-- column workspace_path: VARCHAR; the root folder of the workspace
-- column session_project: VARCHAR; the project that the session names
-- column client_version: VARCHAR; version of the tool that wrote the log
-- column model: VARCHAR; the model of the last request before it
-- column compacted_at: BIGINT; when, in Unix ms
-- column trigger: VARCHAR; why: context_limit, manual; NULL when the log does not say
-- column tokens_before: BIGINT; whole input of the last request before it; NULL when there is none
-- column messages_tokens_before: BIGINT; what the log states for the messages alone, without system prompt and tools
-- column tokens_saved: BIGINT; what it cleared, as the log states
-- column cleared_calls: BIGINT; tool calls whose results it cleared
-- column cleared_attachments: BIGINT; attachments that it cleared
-- references: docs/compaction.md#what-counts-as-one; a micro-compaction
-- kept: by family with messages
with micro_compaction as (
  select
    m.id as message_id,
    m.turn_id,
    o.session_label,
    m.created_at as compacted_at,
    m.metadata_json
  from messages m
  left join v_turn_owner o on o.turn_id = m.turn_id
  where m.role = 'system'
    and contains(m.metadata_json, '"microcompact"')
    and json_extract_string(m.metadata_json, '$.microcompact') is not null
),
earlier_request as (
  select
    m.message_id,
    r.model,
    r.context_tokens,
    row_number() over (partition by m.message_id order by r.requested_at desc, r.seq desc, r.request_id desc) as place
  from micro_compaction m
  join v_requests r on r.session_label = m.session_label
  where r.kind = 'main' and r.has_usage and r.requested_at <= m.compacted_at
)
select
  m.message_id,
  m.turn_id,
  m.session_label,
  coalesce(s.origin, c.origin) as origin,
  t.workspace_path,
  x.project as session_project,
  c.client_version,
  e.model,
  m.compacted_at,
  case json_extract_string(m.metadata_json, '$.microcompact.trigger')
    when 'auto' then 'context_limit'
    else json_extract_string(m.metadata_json, '$.microcompact.trigger')
  end as trigger,
  e.context_tokens as tokens_before,
  try_cast(json_extract_string(m.metadata_json, '$.microcompact.preTokens') as bigint) as messages_tokens_before,
  try_cast(json_extract_string(m.metadata_json, '$.microcompact.tokensSaved') as bigint) as tokens_saved,
  cast(json_array_length(json_extract(m.metadata_json, '$.microcompact.compactedToolIds')) as bigint) as cleared_calls,
  cast(json_array_length(json_extract(m.metadata_json, '$.microcompact.clearedAttachmentUUIDs')) as bigint)
    as cleared_attachments
from micro_compaction m
left join turns t on t.id = m.turn_id
left join turn_context c on c.turn_id = m.turn_id
left join sessions s on s.label = m.session_label
left join session_context x on x.label = m.session_label
left join earlier_request e on e.message_id = m.message_id and e.place = 1
