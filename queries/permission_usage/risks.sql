-- title: Risks
-- question: Which classes of risky calls were made in which project, and did they run?
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
-- caveat: The severity is that of the worst call that ran. A call that failed may have done something nevertheless.
-- caveat: Commands are judged as they are written: what a script does is not seen.
-- references: docs/permissions.md#risks; the classes of risk
with severity_level (severity, rank) as (
  values ('high', 3), ('medium', 2), ('low', 1)
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
)
select
  left(c.project || ': ' || c.risk, 200) as resource,
  case when c.ran > 0 then 'alarm' else 'info' end as status,
  case when c.ran > 0 then cast(c.ran as varchar) else 'None' end || ' of ' || cast(c.calls as varchar)
    || case when c.calls = 1 then ' call' else ' calls' end || ' of the class ' || c.risk || ' ran, '
    || cast(c.denied as varchar) || case when c.denied = 1 then ' was' else ' were' end || ' denied, '
    || cast(c.failed as varchar) || ' failed; for example ' || left(c.shown, 200) || '.' as reason,
  l.severity,
  c.project, c.risk, c.calls, c.ran, c.failed, c.denied, c.sessions,
  left(c.shown, 200) as example,
  c.is_inferred, c.first_called_at, c.last_called_at, c.session_label, c.turn_id, c.call_id
from risk_totals c
left join severity_level l on l.rank = c.rank
order by case when c.ran > 0 then 0 else 1 end, c.rank desc nulls last, c.calls desc, c.project, c.risk
