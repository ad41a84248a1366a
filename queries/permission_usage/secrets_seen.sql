-- title: Possible secrets in texts
-- question: Where are keys, tokens or passwords in the logs?
-- why: What an assistant has seen was sent to a provider and lies in its logs: such a secret should be replaced.
-- grain: pattern, fingerprint, field and id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column pattern: VARCHAR; what kind of secret it is
-- column fingerprint: VARCHAR; the same for the same secret, and of no use to find it out: 12 digits of the SHA-256 of pattern, colon and secret
-- column place: VARCHAR; one of message, call, summary
-- column field: VARCHAR; one of content, thinking, params, result, summary
-- column id: VARCHAR; the message, the call, or the turn of the compaction
-- column occurrences: BIGINT; how often it stands there
-- column is_inferred: BOOLEAN; whether only the name before it says that it is a secret
-- column said_at: BIGINT; when that was said, in Unix ms
-- column project: VARCHAR; the project
-- column origin: VARCHAR; the tool whose logs hold it
-- column session_label: VARCHAR; the session
-- column turn_id: VARCHAR; the turn
-- column call_id: VARCHAR; the call; NULL of messages and summaries
-- shown: severity, pattern, project, session_label, place, call_id, said_at, occurrences, reason
-- empty: No keys, tokens or passwords were found.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: What stands for a secret, such as `<your key>`, an example of a vendor's documentation or a placeholder, is left out.
-- caveat: A pattern shows the form of a secret, not that it is valid.
-- caveat: Of a private key the first 8,000 characters count, without line ends.
-- remedy: Replace the secret at its provider now. Then remove its session from the ledger with `aix forget SESSION`, and delete the log.
select
  h.pattern || ' ' || h.fingerprint as resource,
  'alarm' as status,
  'Possible ' || case h.pattern when 'named-secret' then 'password or key' else replace(h.pattern, '-', ' ') end || ' in '
    || case
      when h.place = 'summary' then 'the summary of a compaction'
      when h.field = 'result' then 'a tool result'
      when h.field = 'params' then 'the input of a tool call'
      when h.field = 'thinking' then 'the thinking of a model'
      else 'a message'
    end
    || '.' as reason,
  case when h.pattern = 'json-web-token' then 'medium' else 'high' end as severity,
  h.pattern,
  h.fingerprint,
  h.place,
  h.field,
  h.id,
  h.occurrences,
  h.pattern = 'named-secret' as is_inferred,
  h.said_at,
  n.project,
  n.origin,
  n.session_label,
  h.turn_id,
  case when h.place = 'call' then h.id end as call_id
from v_secrets h
join v_counted_turns n on n.turn_id = h.turn_id
where (getvariable('since') is null or h.said_at >= getvariable('since'))
  and (getvariable('until') is null or h.said_at < getvariable('until'))
order by
  case when h.pattern = 'json-web-token' then 1 else 0 end,
  h.occurrences desc,
  h.pattern,
  h.fingerprint,
  h.said_at,
  h.id,
  h.field
