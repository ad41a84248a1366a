-- title: Risky calls by project
-- question: Which risky calls were made, and did they run?
-- why: Few of all calls can do harm; an audit begins with these.
-- grain: project and risk
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column project: VARCHAR; the project
-- column risk: VARCHAR; the class of risk
-- column calls: BIGINT; calls of this class
-- column ran: BIGINT; of these, calls that ran
-- column failed: BIGINT; calls that failed
-- column denied: BIGINT; calls that were denied
-- column sessions: BIGINT; sessions
-- column example: VARCHAR; command or target of the last call of the worst that ran, else of the last, at most 200 characters
-- column is_inferred: BOOLEAN; whether what ran is only concluded to be of this class
-- column first_called_at: BIGINT; the first call, in Unix ms
-- column last_called_at: BIGINT; the last call, in Unix ms
-- column session_label: VARCHAR; the session of the example
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; its call
-- shown: severity, risk, example, calls, project, session_label, denied, ran, reason
-- empty: No call falls into a class of risk.
-- next: `aix query risky_calls` lists each call; `aix audit` shows all findings
-- caveat: The severity is that of the worst call that ran. A call that failed may have done something nevertheless.
-- caveat: Commands are judged as they are written: what a script does is not seen.
-- remedy: Read the call with `aix audit explain CALL`, and deny such calls in your settings. `aix audit propose --project PROJECT -o proposed.json` writes settings that allow the other calls and none of these.
-- references: docs/permissions.md#risks; the classes of risk
with severity_level (severity, rank) as (
  values ('high', 3), ('medium', 2), ('low', 1)
),
-- How a sentence about each class begins: where the command says most, and where the number of calls does.
risk_words (risk, ran_words, tried_words, is_about_command) as (
  values
    ('destructive', 'Destructive command ran', 'Destructive command did not run', true),
    ('privilege', 'Privileged command ran', 'Privileged command did not run', true),
    ('remote_code', 'Downloaded code ran', 'Downloaded code did not run', true),
    ('unknown_program', 'Command ran that cannot be read in advance', 'Command that cannot be read in advance did not run', true),
    ('force_push', 'Force push ran', 'Force push did not run', true),
    ('package_publish', 'Package was published', 'Package was not published', true),
    ('container_privileged', 'Privileged container ran', 'Privileged container did not run', true),
    ('history_rewriting', 'Git history was rewritten', 'Git history was not rewritten', true),
    ('credential_read', 'Read credentials', 'Tried to read credentials', false),
    ('network', 'Used the network', 'Tried to use the network', false),
    ('package_install', 'Installed packages', 'Tried to install packages', false),
    ('write_outside_workspace', 'Wrote outside the workspace', 'Tried to write outside the workspace', false),
    ('mcp_write', 'Changed something through a server', 'Tried to change something through a server', false)
),
risky_call as (
  select
    coalesce(r.project, 'unknown') as project, r.risk, r.call_id,
    min(r.session_label) as session_label,
    min(r.turn_id) as turn_id,
    min(r.called_at) as called_at,
    min(r.outcome) as outcome,
    bool_or(r.is_denied) as is_denied,
    max(l.rank) as rank,
    bool_and(r.basis <> 'exact') as is_inferred,
    max_by(
      coalesce(coalesce(nullif(r.wrappers, '') || ' ', '') || r.command, r.target || coalesce(' ' || r.detail, '')),
      l.rank * 10000 - r.number
    ) as shown
  from v_counted_risks r
  join severity_level l on l.severity = r.severity
  group by coalesce(r.project, 'unknown'), r.risk, r.call_id
),
ordered_call as (
  select
    k.*,
    case when k.outcome = 'ran' then cast(k.rank as varchar) else '0' end
      || right('00000000000000' || cast(k.called_at as varchar), 15) || ' ' || k.call_id as example_order
  from risky_call k
),
risk_totals as (
  select
    project, risk,
    count(*) as calls,
    count(case when outcome = 'ran' then 1 end) as ran,
    count(case when outcome = 'failed' then 1 end) as failed,
    count(case when is_denied then 1 end) as denied,
    count(distinct session_label) as sessions,
    max(case when outcome = 'ran' then rank end) as rank,
    coalesce(bool_and(case when outcome = 'ran' then is_inferred end), bool_and(is_inferred)) as is_inferred,
    max_by(shown, example_order) as shown,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at,
    max_by(session_label, example_order) as session_label,
    max_by(turn_id, example_order) as turn_id,
    max_by(call_id, example_order) as call_id
  from ordered_call
  group by project, risk
),
risk_sentence as (
  select
    c.*,
    case
      when c.ran > 0 then coalesce(w.ran_words, 'Made risky calls (' || c.risk || ')')
      else coalesce(w.tried_words, 'Tried risky calls (' || c.risk || ')')
    end as words,
    coalesce(w.is_about_command, false) as is_about_command,
    case when c.calls = 1 then 'once' else cast(c.calls as varchar) || ' times' end as times,
    coalesce(nullif(regexp_replace(replace(c.project, chr(92), '/'), '^.*/', ''), ''), c.project) as project_name,
    c.calls - c.ran - c.failed - c.denied as other_calls
  from risk_totals c
  left join risk_words w on w.risk = c.risk
)
select
  left(c.project || ': ' || c.risk, 200) as resource,
  case when c.ran > 0 then 'alarm' else 'info' end as status,
  case
    when c.is_about_command
      then c.words || ': `' || left(c.shown, 200) || '` (' || left(c.project_name, 100) || ', ' || c.times
        || case when c.failed > 0 then ', ' || cast(c.failed as varchar) || ' failed' else '' end
        || case when c.denied > 0 then ', ' || cast(c.denied as varchar) || ' denied' else ', not denied' end || ').'
    when c.calls = 1 and c.ran = 1
      then c.words || ' 1 time, not denied (' || left(c.project_name, 100) || ', `' || left(c.shown, 200) || '`).'
    else c.words || ' ' || c.times || ': '
      || case when c.ran > 0 then cast(c.ran as varchar) else 'none' end || ' succeeded'
      || case when c.failed > 0 then ', ' || cast(c.failed as varchar) || ' failed' else '' end
      || case when c.other_calls > 0 then ', ' || cast(c.other_calls as varchar) || ' without a result' else '' end
      || ', ' || case when c.denied > 0 then cast(c.denied as varchar) else 'none' end || ' denied ('
      || left(c.project_name, 100) || ', such as `' || left(c.shown, 200) || '`).'
  end as reason,
  l.severity,
  c.project, c.risk, c.calls, c.ran, c.failed, c.denied, c.sessions,
  left(c.shown, 200) as example,
  c.is_inferred, c.first_called_at, c.last_called_at, c.session_label, c.turn_id, c.call_id
from risk_sentence c
left join severity_level l on l.rank = c.rank
order by case when c.ran > 0 then 0 else 1 end, c.rank desc nulls last, c.calls desc, c.project, c.risk
