-- title: Shadowed, redundant and unreachable rules
-- question: Which rules never decide, because others do?
-- why: They give a wrong picture of what is allowed, and a deny rule that never fires gives false safety.
-- grain: file, kind, rule and remark
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column origin: VARCHAR; whose rule it is
-- column scope: VARCHAR; whose settings hold it
-- column file: VARCHAR; the settings file
-- column kind: VARCHAR; what it does: allow, ask, deny; NULL for a settings file without such rules
-- column rule: VARCHAR; the rule as it is written
-- column remark: VARCHAR; unreachable, shadowed, redundant, or outdone where in use others always decided
-- column by_rule: VARCHAR; the other rule
-- column by_file: VARCHAR; its settings file
-- column is_inferred: BOOLEAN; whether the row rests on use alone
-- column hits: BIGINT; calls that it matched
-- column deciding_hits: BIGINT; calls that it decided
-- column last_hit_at: BIGINT; when it last matched, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: reason, severity, rule, by_rule, kind, scope, file
-- empty: Every known rule decides something of its own.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Which rules cover others is concluded from calls that stand for all that a rule matches; what several rules cover together is not found.
-- caveat: An outdone rule may still decide about a call to come.
-- remedy: Delete the rule, or correct it: as it is, it changes nothing.
with outdone_call as (
  select
    m.origin, m.scope, m.file, m.kind, m.rule, v.rule as by_rule, v.file as by_file,
    right('00000000000000' || cast(c.called_at as varchar), 15) || ' ' || c.call_id as call_order
  from rule_matches m
  join v_counted_targets c on c.call_id = m.call_id and c.number = 0
  join rule_verdicts v on v.call_id = m.call_id
  where not m.is_deciding and v.rule is not null
),
outdoing_rule as (
  select
    origin, scope, file, kind, rule,
    -- Of the rules that decided in its place, the one that did so last.
    max_by(by_rule, call_order) as by_rule,
    max_by(by_file, call_order) as by_file,
    count(*) as decisions
  from outdone_call
  group by origin, scope, file, kind, rule
),
judged_rule as (
  select
    u.*,
    case
      when r.remark is not null then r.remark
      when u.hits > 0 and u.deciding_hits = 0 and d.decisions = u.hits then 'outdone'
    end as remark,
    coalesce(r.by_rule, d.by_rule) as by_rule,
    coalesce(r.by_file, d.by_file) as by_file,
    r.reason as told
  from v_rule_use u
  left join rule_remarks r
    on r.origin = u.origin and r.scope = u.scope and r.file = u.file and r.kind = u.kind and r.rule = u.rule
  left join outdoing_rule d
    on d.origin = u.origin and d.scope = u.scope and d.file = u.file and d.kind = u.kind and d.rule = u.rule
  where u.kind in ('allow', 'ask', 'deny')
),
rule_finding as (
  select
    left(rule, 200) as resource,
    'alarm' as status,
    case remark
      when 'outdone' then 'Outdone ' || kind || ' rule: `' || left(rule, 200) || '` matched ' || cast(hits as varchar)
        || case when hits = 1 then ' call' else ' calls' end || ', and others decided, such as `' || left(by_rule, 200) || '`.'
      when 'unreachable' then 'Unreachable ' || kind || ' rule: `' || left(rule, 200) || '`. ' || left(told, 400)
      when 'shadowed' then 'Shadowed ' || kind || ' rule: `' || left(rule, 200) || '`. ' || left(told, 400)
      else 'Redundant ' || kind || ' rule: `' || left(rule, 200) || '`. ' || left(told, 400)
    end as reason,
    case when remark = 'unreachable' and kind in ('deny', 'ask') then 'medium' else 'low' end as severity,
    origin, scope, file, kind, rule, remark,
    case when remark <> 'unreachable' then by_rule end as by_rule,
    case when remark <> 'unreachable' then by_file end as by_file,
    remark = 'outdone' as is_inferred,
    hits, deciding_hits, last_hit_at, session_label, turn_id, call_id
  from judged_rule
  where remark is not null
  union all
  select
    left(file, 200),
    'ok',
    'Each of its rules can decide; it has ' || cast(count(*) as varchar) || '.',
    null,
    origin, scope, file, null, null, null, null, null, false,
    cast(sum(hits) as bigint), cast(sum(deciding_hits) as bigint), max(last_hit_at), null, null, null
  from judged_rule
  group by origin, scope, file
  having count(remark) = 0
)
select
  resource, status, reason, severity, origin, scope, file, kind, rule, remark, by_rule, by_file, is_inferred,
  hits, deciding_hits, last_hit_at, session_label, turn_id, call_id
from rule_finding
order by
  status, case severity when 'medium' then 0 else 1 end, hits desc, resource, origin, scope, file, kind, rule, remark
