-- title: The tool calls that a question counts
-- question: Which calls fall into the time, project, origin, model, session and tag that were asked for?
-- why: Every figure of tools is a sum over these rows, so that the same filters mean the same everywhere.
-- grain: call
-- params: filters
-- column call_id: VARCHAR; the call
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message that makes it
-- column request_id: VARCHAR; the request that gave this message; NULL when it is not known
-- column requested_at: BIGINT; when that request was made, in Unix ms; else when the call was
-- column model: VARCHAR; the model that the request named
-- column session_label: VARCHAR; the session it counts for: the owner of its turn
-- column origin: VARCHAR; where that session came from
-- column workspace_path: VARCHAR; the root folder of its turn's workspace
-- column session_project: VARCHAR; the project that its session names
-- column tool_name: VARCHAR; the tool
-- column status: VARCHAR; how far it came
-- column outcome: VARCHAR; what became of it, as far as the log tells: ran, failed, a kind of denial
-- column is_denied: BOOLEAN; whether the user, a rule, a mode, a hook or a directory denied it
-- column params_hash: VARCHAR; hash of its parameters
-- column result_chars: BIGINT; length of its result
-- column result_tokens: BIGINT; tokens of context that the result took; NULL when unknown
-- column is_measured: BOOLEAN; whether the context's growth shows these tokens; else they are estimated from the length
-- column is_repeat: BOOLEAN; whether the session had made the same call with the same parameters before
-- column status_before: VARCHAR; how far the same call had come the time before
-- column later_requests: BIGINT; requests of the session after it, until the next compaction
-- column later_read_usd: DECIMAL(38,12); their prices of one token read from the cache, summed; NULL when none has a price
-- column project: VARCHAR; the project of its turn, else of its session
select r.*, coalesce(w.project, r.workspace_path, r.session_project) as project
from v_calls r
left join v_workspaces w on w.workspace_path = r.workspace_path
left join v_tagged t on t.entity_type = 'turns' and t.entity_id = r.turn_id
left join v_tagged s on s.entity_type = 'sessions' and s.entity_id = r.session_label
where (getvariable('since') is null or r.requested_at >= getvariable('since'))
  and (getvariable('until') is null or r.requested_at < getvariable('until'))
  and (getvariable('model') is null or contains(lower(r.model), lower(getvariable('model'))))
  and (getvariable('origin') is null or r.origin = getvariable('origin'))
  and (getvariable('session') is null or r.session_label = getvariable('session'))
  and (
    getvariable('project') is null
    or contains(lower(coalesce(w.project, r.workspace_path, r.session_project)), lower(getvariable('project')))
  )
  and (getvariable('tag') is null or t.entity_id is not null or s.entity_id is not null)
