-- title: Use of each rule
-- question: How often did each rule match and decide?
-- why: The rules that carry the work are few, and these are the ones to keep.
-- grain: rule
-- params: filters
-- column origin: VARCHAR; whose rule it is
-- column scope: VARCHAR; whose settings hold it
-- column file: VARCHAR; the settings file
-- column kind: VARCHAR; what it does: allow, ask, deny, directory
-- column rule: VARCHAR; the rule as it is written
-- column position: BIGINT; place in its list, from 0
-- column folder: VARCHAR; the folder in which it holds, with all below; NULL where that is everywhere
-- column first_seen_at: BIGINT; when it was first seen, in Unix ms
-- column calls_there: BIGINT; calls of its origin where it holds
-- column hits: BIGINT; calls of which it matches all or a part
-- column deciding_hits: BIGINT; calls whose decision rests on it
-- column sessions: BIGINT; sessions of these calls
-- column targets: BIGINT; different commands, paths, hosts or servers of these calls
-- column first_hit_at: BIGINT; when it first matched, in Unix ms
-- column last_hit_at: BIGINT; when it last matched, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: rule, kind, hits, deciding_hits, scope, sessions, last_hit_at, file
-- empty: No rule is known.
-- next: `aix query unused_rules` lists those that matched nothing
-- caveat: Hits are matches by the documentation of each tool, whatever became of the call, and whether the rule was there yet.
-- caveat: Default modes and switches of a tool are no rules, and are left out.
select
  origin, scope, file, kind, rule, position, folder, first_seen_at, calls_there, hits, deciding_hits, sessions, targets,
  first_hit_at, last_hit_at, session_label, turn_id, call_id
from v_rule_use
order by hits desc, deciding_hits desc, origin, scope, file, kind, position, rule
