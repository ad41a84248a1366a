-- title: No call ran that a deny rule forbids
-- question: Which calls ran although a deny rule that was there before them matches?
-- why: Deny wins over ask, allow and every mode; a call that ran all the same went past the rules.
-- grain: tool call
-- invariant: O7
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: What a rule matches follows the documentation of its tool, which may do otherwise, or have done so at the time.
-- caveat: Calls for which no rules are known are not judged.
-- caveat: A rule of a persona holds for all its calls: the file does not say since when.
-- references: docs/permissions.md#how-they-decide; the order of deny, ask and allow
-- references: docs/personas.md#what-a-persona-may-do; the rules of personas
select 'tool_calls' as table_name, k.id as row_id,
  'It ran although the deny rule ' || left(v.rule, 200) || ' of ' || left(v.file, 200) || ' forbids it.' as reason
from rule_verdicts v
join permission_decisions d on d.call_id = v.call_id and d.outcome = 'ran'
join tool_calls k on k.id = v.call_id
join turns t on t.id = k.turn_id
join turn_context c on c.turn_id = k.turn_id
join permission_rules r
  on r.origin = c.origin and r.scope = v.scope and r.file = v.file and r.kind = v.kind and r.rule = v.rule
where v.decision = 'deny' and r.first_seen_at <= coalesce(k.started_at, t.started_at)
union all
select 'tool_calls' as table_name, v.call_id as row_id,
  'It ran although the deny rule ' || left(v.rule, 200) || ' of the persona ' || left(v.persona_id, 200)
    || ' forbids it.' as reason
from persona_verdicts v
join permission_decisions d on d.call_id = v.call_id and d.outcome = 'ran'
where v.decision = 'deny'
order by row_id, reason
