-- title: Credentials that the persona is not given
-- question: Which credentials were not the persona's own?
-- why: A token in the environment is there for every command; a persona should use only its own.
-- grain: persona and credential
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column persona_id: VARCHAR; the persona
-- column credential: VARCHAR; the name of the variable of the environment
-- column is_inferred: BOOLEAN; whether only its name says that it is a credential
-- column calls: BIGINT; calls that ran
-- column sessions: BIGINT; their sessions
-- column first_called_at: BIGINT; the first of them, in Unix ms
-- column last_called_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: severity, persona_id, credential, calls, reason
-- empty: No command of a persona with a list of credentials named one.
-- next: `aix audit explain CALL` shows one call
-- caveat: Variables that a command names are known; those that a program reads by itself are not.
-- caveat: A name that a command only quotes, or sets itself, counts too.
-- caveat: What no persona lists counts as a credential when it is called like one, such as NPM_TOKEN.
-- remedy: Take the variable out of the environment of the agent, or list it in the file of personas.
-- references: docs/personas.md#what-a-persona-may-do; credentials
with named_variable as (
  select
    c.call_id, c.session_label, c.turn_id, c.called_at,
    unnest(
      regexp_extract_all(
        c.command, '(?:[$](?:env:|[{]!?)?|printenv +(?:-[^ ]+ +)*|%)([A-Za-z_][A-Za-z0-9_]*)', 1
      )
    ) as credential
  from v_counted_targets c
  where c.kind = 'command' and c.outcome = 'ran'
),
listed_credential as (
  select value as credential from persona_permissions where kind = 'credential' group by value
),
-- Variables that are credentials, each with what the persona of the call says of it.
judged_variable as (
  select
    p.persona_id, v.credential, v.call_id, v.session_label, v.turn_id, v.called_at,
    right('00000000000000' || cast(v.called_at as varchar), 15) || ' ' || v.call_id as call_order,
    m.value is not null as is_listed,
    l.credential is null as is_inferred
  from named_variable v
  join v_session_personas s on s.session_label = v.session_label
  join personas p on p.persona_id = s.persona_id and p.has_credential_list
  left join listed_credential l on l.credential = v.credential
  left join persona_permissions m
    on m.persona_id = p.persona_id and m.kind = 'credential' and m.value = v.credential
  where l.credential is not null
    or regexp_matches(upper(v.credential), '(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|(API|ACCESS|PRIVATE)_?KEY)(_|$)')
),
credential_totals as (
  select
    persona_id, credential, is_listed, is_inferred,
    count(distinct call_id) as calls,
    count(distinct session_label) as sessions,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at,
    max_by(session_label, call_order) as session_label,
    max_by(turn_id, call_order) as turn_id,
    max_by(call_id, call_order) as call_id
  from judged_variable
  group by persona_id, credential, is_listed, is_inferred
)
select
  left(persona_id || ': ' || credential, 200) as resource,
  case when is_listed then 'ok' else 'alarm' end as status,
  cast(calls as varchar) || case when calls = 1 then ' call' else ' calls' end || ' named the variable '
    || left(credential, 200) || ', which the persona ' || persona_id
    || case when is_listed then ' lists.' when is_inferred then ' does not list; its name is that of a credential.'
      else ' does not list.' end as reason,
  case when not is_listed then case when is_inferred then 'medium' else 'high' end end as severity,
  persona_id, credential,
  is_inferred and not is_listed as is_inferred,
  calls, sessions, first_called_at, last_called_at, session_label, turn_id, call_id
from credential_totals
order by is_listed, is_inferred, calls desc, persona_id, credential
