-- title: Rules wider than their use
-- question: Which allow rules are broader than what was used?
-- why: What a rule allows beyond its use is a risk that buys nothing.
-- grain: file and rule
-- params: filters
-- param most: integer = 5; a rule used for more different patterns than this is not worth splitting
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column origin: VARCHAR; whose rule it is
-- column scope: VARCHAR; whose settings hold it
-- column file: VARCHAR; the settings file
-- column rule: VARCHAR; the allow rule as it is written
-- column is_tool_wide: BOOLEAN; whether it speaks of all that a tool or a server can do
-- column narrow_rules: VARCHAR; the narrow rules that would cover its use, each on a line; NULL for an alarm about risky uses only
-- column patterns: BIGINT; how many these are
-- column decided_calls: BIGINT; calls that it let pass, alone or with others
-- column uncovered_calls: BIGINT; those of them for which there is no narrow rule
-- column hits: BIGINT; calls that it matched
-- column sessions: BIGINT; sessions of these calls
-- column first_hit_at: BIGINT; when it first matched, in Unix ms
-- column last_hit_at: BIGINT; when it last matched, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: reason, severity, rule, scope, hits, uncovered_calls, narrow_rules
-- empty: No allow rule is known.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: What will be needed is not known: narrow a rule that has been used for a while.
-- caveat: Only calls count whose decision rests on the rule: what another rule denies needs no narrow rule.
-- caveat: A rule without a wildcard is as narrow as a rule can be.
-- caveat: No narrow rule is wider than one program with its subcommand, one folder, one host or one server.
-- caveat: A use is risky by a class of risk of high or medium severity other than network.
-- remedy: Replace the rule by its narrower rules (`aix audit explain FINDING` lists them), or remove it where there are none.
-- references: docs/permissions.md#the-least-that-would-have-sufficed; the narrow rules
with allowed_call as (
  select m.origin, m.scope, m.file, m.rule, m.call_id, m.narrow_rule
  from rule_matches m
  join v_counted_targets c on c.call_id = m.call_id and c.number = 0
  where m.kind = 'allow' and m.is_deciding
),
needed_rule as (
  select origin, scope, file, rule, unnest(string_split(narrow_rule, chr(10))) as narrow_rule
  from allowed_call
  where narrow_rule is not null
),
distinct_needed_rule as (
  select origin, scope, file, rule, narrow_rule from needed_rule group by origin, scope, file, rule, narrow_rule
),
needed_rules as (
  select
    origin, scope, file, rule,
    string_agg(narrow_rule, chr(10) order by narrow_rule) as narrow_rules,
    count(*) as patterns,
    -- A prefix can be written in two ways.
    max(
      case when replace(narrow_rule, ':*)', ' *)') = replace(rule, ':*)', ' *)') then 1 else 0 end
    ) = 1 as is_narrowest
  from distinct_needed_rule
  group by origin, scope, file, rule
),
rule_calls as (
  select
    a.origin, a.scope, a.file, a.rule,
    count(*) as decided_calls,
    count(case when a.narrow_rule is null then 1 end) as uncovered_calls,
    count(k.call_id) = count(*) as is_risky
  from allowed_call a
  left join (
    select call_id from call_risks where severity in ('high', 'medium') and risk <> 'network' group by call_id
  ) k on k.call_id = a.call_id
  group by a.origin, a.scope, a.file, a.rule
),
judged_rule as (
  select
    u.origin, u.scope, u.file, u.rule, u.is_tool_wide, c.narrow_rules, coalesce(c.patterns, 0) as patterns,
    coalesce(d.decided_calls, 0) as decided_calls, coalesce(d.uncovered_calls, 0) as uncovered_calls, u.hits,
    u.sessions, u.first_hit_at, u.last_hit_at, u.session_label, u.turn_id, u.call_id,
    coalesce(d.is_risky, false) as is_risky,
    case
      when u.hits = 0 then 'unused'
      when d.rule is null then 'outdone'
      when not u.is_tool_wide and not contains(u.rule, '*') then 'exact'
      when coalesce(c.is_narrowest, false) then 'narrow'
      when d.uncovered_calls > 0 then 'uncovered'
      when c.patterns > coalesce(getvariable('most'), 5) then 'many'
      else 'broad'
    end as state,
    -- All of a tool, or a program with whatever follows.
    u.is_tool_wide or regexp_matches(u.rule, '[(][^ :/]+( |:)[*][)]$') as is_wide
  from v_rule_use u
  left join rule_calls d on d.origin = u.origin and d.scope = u.scope and d.file = u.file and d.rule = u.rule
  left join needed_rules c on c.origin = u.origin and c.scope = u.scope and c.file = u.file and c.rule = u.rule
  where u.kind = 'allow'
)
select
  left(rule, 200) as resource,
  case
    when state = 'broad' then 'alarm'
    when state = 'uncovered' then 'info'
    when state in ('unused', 'outdone') then 'skip'
    else 'ok'
  end as status,
  case state
    when 'unused' then 'It matched no call, as unused_rules says: how narrow it could be is not known.'
    when 'outdone' then 'Others decided about all that it matched: how narrow it could be is not known.'
    when 'exact' then 'It has no wildcard.'
    when 'narrow' then 'Its use needs it as wide as it is.'
    when 'many' then 'It was used for ' || cast(patterns as varchar) || ' different patterns.'
    when 'uncovered' then cast(uncovered_calls as varchar) || ' of ' || cast(decided_calls as varchar)
      || case when decided_calls = 1 then ' call' else ' calls' end || ' that it let pass fit no narrow rule.'
    else 'Broad rule: `' || left(rule, 200) || '` let ' || cast(decided_calls as varchar) || case when decided_calls = 1 then ' call' else ' calls' end
      || ' pass'
      || case
        when is_risky then case when decided_calls = 1 then ', which was risky' else ', all of them risky' end
          || ': remove the rule, or ask before such calls'
        else ' that ' || case when patterns = 1 then 'one narrow rule covers: ' else cast(patterns as varchar) || ' narrow rules cover: ' end
          || left(replace(narrow_rules, chr(10), ', '), 200)
      end || '.'
  end as reason,
  case when state = 'broad' then case when is_wide then 'medium' else 'low' end end as severity,
  origin, scope, file, rule, is_tool_wide,
  case when state = 'broad' and is_risky then null else narrow_rules end as narrow_rules,
  patterns, decided_calls, uncovered_calls, hits, sessions,
  first_hit_at, last_hit_at, session_label, turn_id, call_id
from judged_rule
order by
  case
    when state = 'broad' then 0
    when state = 'uncovered' then 1
    when state in ('unused', 'outdone') then 3
    else 2
  end,
  case when state = 'broad' and is_wide then 0 else 1 end,
  hits desc, resource, origin, scope, file, rule
