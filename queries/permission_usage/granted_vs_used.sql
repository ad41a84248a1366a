-- title: Granted against used
-- question: What do rules grant each agent, and what is used?
-- why: The difference is what can be taken away, and what people grant by hand again and again.
-- grain: project, origin, agent and tool_name
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column project: VARCHAR; the project
-- column origin: VARCHAR; the tool whose logs tell of it
-- column agent: VARCHAR; main, or subagent with its kind
-- column tool_name: VARCHAR; the tool that was called
-- column class: VARCHAR; what kind of access that is
-- column allow_rules: BIGINT; allow rules that match some of its calls
-- column ask_rules: BIGINT; ask rules that do
-- column deny_rules: BIGINT; deny rules that do
-- column calls: BIGINT; its calls
-- column ran: BIGINT; those that ran
-- column failed: BIGINT; those that failed
-- column interrupted: BIGINT; those that were interrupted
-- column open: BIGINT; those without a result
-- column denied_user: BIGINT; those that the user denied
-- column denied_rule: BIGINT; those that a rule denied
-- column denied_mode: BIGINT; those that the mode denied
-- column denied_hook: BIGINT; those that a hook denied
-- column denied_directory: BIGINT; those that were denied for their folder
-- column not_granted: BIGINT; those that nobody granted
-- column would_allow: BIGINT; calls that the rules allow
-- column would_ask: BIGINT; calls that the rules ask for
-- column would_deny: BIGINT; calls that the rules deny
-- column no_rule: BIGINT; calls about which no rule decides
-- column rules_unknown: BIGINT; calls for which no rules are known
-- column by_hand_or_mode: BIGINT; calls that ran, where rules that allow something are known, although neither a rule allows them nor the tool runs them by itself
-- column sessions: BIGINT; sessions of these calls
-- column first_called_at: BIGINT; the first call, in Unix ms
-- column last_called_at: BIGINT; the last call, in Unix ms
-- column session_label: VARCHAR; the session of the last call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last call
-- shown: tool_name, calls, ran, reason, not_granted, would_allow, would_ask, would_deny, agent, project
-- empty: No calls yet.
-- next: `aix audit propose` writes settings for the calls that were made
-- caveat: Rules that match none of these calls are not counted: see unused_rules.
-- caveat: The rules are those that an import last found, whenever a call was made.
-- remedy: Write rules for tools that are used often: `aix audit propose --project PROJECT -o proposed.json`.
with tool_use as (
  select
    c.project, c.origin, c.agent, c.tool_name,
    max(c.class) as class,
    count(*) as calls,
    count(case when c.outcome = 'ran' then 1 end) as ran,
    count(case when c.outcome = 'failed' then 1 end) as failed,
    count(case when c.outcome = 'interrupted' then 1 end) as interrupted,
    count(case when c.outcome in ('pending', 'unknown') then 1 end) as open,
    count(case when c.outcome = 'denied_user' then 1 end) as denied_user,
    count(case when c.outcome = 'denied_rule' then 1 end) as denied_rule,
    count(case when c.outcome = 'denied_mode' then 1 end) as denied_mode,
    count(case when c.outcome = 'denied_hook' then 1 end) as denied_hook,
    count(case when c.outcome = 'denied_directory' then 1 end) as denied_directory,
    count(case when c.outcome = 'not_granted' then 1 end) as not_granted,
    count(case when c.decision = 'allow' then 1 end) as would_allow,
    count(case when c.decision = 'ask' then 1 end) as would_ask,
    count(case when c.decision = 'deny' then 1 end) as would_deny,
    count(case when c.decision = 'none' then 1 end) as no_rule,
    count(case when c.decision is null then 1 end) as rules_unknown,
    count(
      case
        when c.outcome = 'ran' and c.is_grant_known and coalesce(c.class, '') <> 'ask'
          and (c.decision in ('ask', 'deny') or (c.decision = 'none' and not c.runs_by_itself)) then 1
      end
    ) as by_hand_or_mode,
    count(case when c.is_grant_known then 1 end) as judged_calls,
    count(distinct c.session_label) as sessions,
    min(c.called_at) as first_called_at,
    max(c.called_at) as last_called_at,
    max_by(c.session_label, c.call_order) as session_label,
    max_by(c.turn_id, c.call_order) as turn_id,
    max_by(c.call_id, c.call_order) as call_id
  from v_judged_calls c
  group by c.project, c.origin, c.agent, c.tool_name
),
matching_rule as (
  select c.project, c.origin, c.agent, c.tool_name, m.kind, m.scope, m.file, m.rule
  from rule_matches m
  join v_judged_calls c on c.call_id = m.call_id
  group by c.project, c.origin, c.agent, c.tool_name, m.kind, m.scope, m.file, m.rule
),
rule_counts as (
  select
    project, origin, agent, tool_name,
    count(case when kind = 'allow' then 1 end) as allow_rules,
    count(case when kind = 'ask' then 1 end) as ask_rules,
    count(case when kind = 'deny' then 1 end) as deny_rules
  from matching_rule
  group by project, origin, agent, tool_name
)
select
  left(u.project || ': ' || u.agent || ': ' || u.tool_name, 200) as resource,
  case when u.judged_calls = 0 then 'skip' when u.by_hand_or_mode > 0 then 'info' else 'ok' end as status,
  case
    when u.judged_calls = 0
      then 'No rules that allow anything are known for what was called here '
        || case when u.calls = 1 then 'once.' else cast(u.calls as varchar) || ' times.' end
    when u.by_hand_or_mode > 0
      then cast(u.by_hand_or_mode as varchar) || ' of ' || cast(u.ran as varchar)
        || ' that ran needed more than rules allow: a mode, or a grant by hand, which is not logged.'
    when u.ran = 0 then 'None of ' || cast(u.calls as varchar) || ' ran.'
    else cast(u.ran as varchar) || ' of ' || cast(u.calls as varchar) || ' ran, as rules or the tool itself allow.'
  end as reason,
  cast(null as varchar) as severity,
  u.project, u.origin, u.agent, u.tool_name, u.class,
  coalesce(g.allow_rules, 0) as allow_rules,
  coalesce(g.ask_rules, 0) as ask_rules,
  coalesce(g.deny_rules, 0) as deny_rules,
  u.calls, u.ran, u.failed, u.interrupted, u.open, u.denied_user, u.denied_rule, u.denied_mode, u.denied_hook,
  u.denied_directory, u.not_granted, u.would_allow, u.would_ask, u.would_deny, u.no_rule, u.rules_unknown,
  u.by_hand_or_mode, u.sessions, u.first_called_at, u.last_called_at, u.session_label, u.turn_id, u.call_id
from tool_use u
left join rule_counts g
  on g.project = u.project and g.origin = u.origin and g.agent = u.agent and g.tool_name = u.tool_name
order by
  case when u.judged_calls = 0 then 2 when u.by_hand_or_mode > 0 then 0 else 1 end,
  u.calls desc, u.project, u.origin, u.agent, u.tool_name
