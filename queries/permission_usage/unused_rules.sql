-- title: Unused rules
-- question: Which rules matched no call for a long time?
-- why: A grant that nobody needs is a door that stays open.
-- grain: file, kind and rule
-- params: filters
-- param days: integer = 90; a rule that matched nothing for so many days is unused
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column origin: VARCHAR; whose rule it is
-- column scope: VARCHAR; whose settings hold it
-- column file: VARCHAR; the settings file
-- column kind: VARCHAR; what it does: allow, ask, deny
-- column rule: VARCHAR; the rule as it is written
-- column is_tool_wide: BOOLEAN; whether it speaks of all that a tool or a server can do
-- column first_seen_at: BIGINT; when it was first seen, in Unix ms
-- column last_hit_at: BIGINT; when it last matched a call, in Unix ms
-- column unused_days: BIGINT; whole days without a match until the newest call, or the end of the time asked for; of a rule without one since it was first seen
-- column calls_there: BIGINT; calls of its origin where it holds
-- column hits: BIGINT; calls that it matched
-- column session_label: VARCHAR; the session of the last call that it matched
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last call that it matched
-- shown: rule, unused_days, reason, scope, kind, last_hit_at, severity
-- empty: No rule is known.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: A deny or ask rule that matched nothing may do its work all the same: it is to note and no alarm.
-- caveat: The age of a rule is that of its settings file when an import first found it there.
-- caveat: Days are counted back from the newest call of the ledger, not from today.
-- remedy: Delete the rule: nothing needed it.
with observed_period as (
  select
    coalesce(getvariable('until'), max(called_at)) as until_at,
    cast(coalesce(getvariable('days'), 90) as bigint) as days
  from call_targets
),
unreachable_rule as (
  select origin, scope, file, kind, rule
  from rule_remarks
  where remark = 'unreachable'
  group by origin, scope, file, kind, rule
),
rule_age as (
  select
    u.*,
    n.days,
    cast(floor((n.until_at - coalesce(u.last_hit_at, u.first_seen_at)) / 86400000.0) as bigint) as unused_days,
    u.first_seen_at > n.until_at - n.days * 86400000 as is_young,
    coalesce(getvariable('since') > n.until_at - n.days * 86400000, false) as is_short,
    r.rule is not null as is_unreachable
  from v_rule_use u
  cross join observed_period n
  left join unreachable_rule r
    on r.origin = u.origin and r.scope = u.scope and r.file = u.file and r.kind = u.kind and r.rule = u.rule
  where u.kind in ('allow', 'ask', 'deny')
),
rule_finding as (
  select
    a.*,
    case
      when calls_there = 0 then 'no_calls'
      when last_hit_at is not null and unused_days < days then 'used'
      when is_unreachable then 'unreachable'
      when is_young then 'young'
      when is_short then 'short'
      when kind = 'allow' then 'unused'
      else 'guard'
    end as state,
    cast(calls_there as varchar) || case when calls_there = 1 then ' call' else ' calls' end as counted_calls,
    cast(days as varchar) || case when days = 1 then ' day' else ' days' end as counted_days,
    cast(unused_days as varchar) || case when unused_days = 1 then ' day' else ' days' end as counted_unused_days
  from rule_age a
)
select
  left(rule, 200) as resource,
  case
    when state = 'unused' then 'alarm'
    when state = 'used' then 'ok'
    when state in ('no_calls', 'short') then 'skip'
    else 'info'
  end as status,
  case state
    when 'no_calls' then 'No call of ' || origin || ' was made where it holds.'
    when 'used' then 'It matched ' || cast(hits as varchar) || case when hits = 1 then ' call.' else ' calls.' end
    when 'unreachable' then 'It can never match, as shadowed_rules says.'
    when 'young' then 'It matched none of ' || counted_calls || ', but is younger than ' || counted_days || '.'
    when 'short' then 'The time asked for is shorter than ' || counted_days || '.'
    when 'guard' then 'It matched none of ' || counted_calls || ' for ' || counted_unused_days || '; it is kept as a guard.'
    else 'Unused rule: `' || left(rule, 200) || '` allows '
      || case when is_tool_wide then 'all that a tool or server can do' else 'what it names' end
      || '; ' || case when last_hit_at is null then 'none of ' || counted_calls || ' needed it for '
        else 'no call has needed it for ' end || counted_unused_days || '.'
  end as reason,
  case when state = 'unused' then case when is_tool_wide then 'medium' else 'low' end end as severity,
  origin, scope, file, kind, rule, is_tool_wide, first_seen_at, last_hit_at,
  case when state <> 'no_calls' then greatest(unused_days, 0) end as unused_days,
  calls_there, hits, session_label, turn_id, call_id
from rule_finding
order by
  case
    when state = 'unused' then 0
    when state in ('guard', 'young', 'unreachable') then 1
    when state = 'used' then 2
    else 3
  end,
  case when state = 'unused' and is_tool_wide then 0 else 1 end,
  unused_days desc, resource, origin, scope, file, kind, rule
