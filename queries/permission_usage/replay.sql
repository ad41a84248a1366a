-- title: Rules replayed over what happened
-- question: Do the known rules agree with what happened?
-- why: Where they disagree, a rule does not do what it says, or something else decides.
-- grain: project, origin, decision and outcome
-- params: filters
-- column project: VARCHAR; the project
-- column origin: VARCHAR; the tool whose logs tell of it
-- column decision: VARCHAR; what the rules decide: allow, ask, deny, none where no rule decides; NULL when none are known
-- column outcome: VARCHAR; what became of the calls
-- column agrees: BOOLEAN; whether the two agree; NULL where they cannot be compared
-- column calls: BIGINT; calls
-- column sessions: BIGINT; their sessions
-- column first_called_at: BIGINT; the first of them, in Unix ms
-- column last_called_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: decision, outcome, calls, agrees, project, sessions, last_called_at
-- empty: No calls yet.
-- next: `aix audit replay SETTINGS` asks the same of your own settings
-- caveat: A denial agrees with deny; all but a rule's silence agrees with ask, because what people answer is not logged.
-- caveat: What ran, failed or was interrupted agrees with allow; a denial by mode, hook or folder can come all the same.
-- caveat: Where no rule decides, only a denial by a rule disagrees: mode, tool and people decide about the rest.
-- caveat: A rule that was first seen after the call is not compared.
-- references: docs/permissions.md#do-rules-predict-what-was-denied; predictions and outcomes compared
with compared_call as (
  select
    c.*,
    case
      when c.decision is null or c.is_later_rule or c.outcome in ('pending', 'unknown') then null
      when c.decision = 'deny' then case when c.is_denied then true when c.outcome = 'ran' then false end
      when c.decision = 'ask' then true
      when c.decision = 'allow' then case
        when c.outcome in ('ran', 'failed', 'interrupted') then true
        when c.outcome in ('denied_rule', 'denied_user', 'not_granted') then false
      end
      when c.outcome = 'denied_rule' then false
      when c.outcome in ('denied_user', 'not_granted', 'denied_mode') then true
    end as agrees
  from v_judged_calls c
)
select
  project, origin, decision, outcome, agrees,
  count(*) as calls,
  count(distinct session_label) as sessions,
  min(called_at) as first_called_at,
  max(called_at) as last_called_at,
  max_by(session_label, call_order) as session_label,
  max_by(turn_id, call_order) as turn_id,
  max_by(call_id, call_order) as call_id
from compared_call
group by project, origin, decision, outcome, agrees
order by case when agrees then 1 when not agrees then 0 else 2 end, calls desc, project, origin, decision, outcome
