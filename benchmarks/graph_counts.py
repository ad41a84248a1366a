"""Records of an exported agent graph, counted by kind and compared with SQL over the ledger.

    aix export --format agent-dag -o graph
    python -m benchmarks.graph_counts LEDGER graph

prints a line for each kind of event, node and edge, and fails when a count differs.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from aix.reading.ledger import open_ledger

# What a session, turn, message, request and call of the ledger becomes, said once more in SQL.
_COUNTS = """
with imported as (  -- turns of imported graphs, which are written as they came
  select c.turn_id from turn_context c where c.origin = 'agent-dag' and (
    exists (select 1 from dag_events e where e.event_id = c.turn_key)
    or exists (select 1 from dag_nodes n where n.kind = 'Summary' and 'summary:' || n.node_id = c.turn_key))
),
own_session as (select * from sessions where thread_id not in (select turn_id from imported)),
logged as (select distinct session_label as label from session_turns),
run as (select s.* from own_session s semi join logged l on l.label = s.label),
branch as (select s.* from own_session s anti join logged l on l.label = s.label),
own_turn as (
  select t.*, o.session_label, x.is_interrupted, x.root_turn_id, h.depth
  from turns t join v_turn_owner o on o.turn_id = t.id join run r on r.label = o.session_label
  left join turn_context x on x.turn_id = t.id left join threads h on h.turn_id = t.id
),
own_message as (select m.* from messages m semi join own_turn t on t.id = m.turn_id),
own_request as (
  select r.*, m.id is not null as has_message, m.sequence as message_place,
    r.turn_id in (select id from own_turn) as in_turn,
    coalesce(r.turn_id in (select id from own_turn), false)
      or (coalesce(r.turn_id not in (select id from turns), true)
        and r.session_label in (select label from run)) as in_run
  from requests r left join own_message m on m.id = r.message_id and m.turn_id = r.turn_id
  where r.turn_id is null or r.turn_id not in (select id from turns) or r.turn_id in (select id from own_turn)
),
own_call as (
  select c.*, c.result_json is not null or c.error is not null or c.status in ('completed', 'failed') as has_result,
    coalesce(d.outcome like 'denied%' or d.outcome = 'not_granted', false) as is_denied
  from tool_calls c semi join own_turn t on t.id = c.turn_id left join permission_decisions d on d.call_id = c.id
),
own_compaction as (select c.*, t.parent_turn_id from compactions c join own_turn t on t.id = c.turn_id),
own_file as (
  select distinct f.message_id, f.file_path, f.kind = 'written' as is_written
  from message_files f semi join own_message m on m.id = f.message_id
),
-- A run goes on from the turn before its first own one, or is a copy that ends in a turn of another.
first_turn as (
  select session_label as label, parent_turn_id from own_turn
  qualify row_number() over (partition by session_label order by started_at, depth, id) = 1
),
forked_run as (
  select r.label from run r left join first_turn f on f.label = r.label
  join own_turn p on p.id = case when f.label is null then r.thread_id else f.parent_turn_id end
  where p.session_label <> r.label
),
left_branch as (
  select b.label, coalesce(t.root_turn_id = h.root_turn_id, false) as has_fork_point
  from branch b join own_turn t on t.id = b.thread_id join run r on r.label = t.session_label
  left join own_turn h on h.id = r.thread_id
),
-- A request takes the messages that came before it, and that no earlier request of its turn has taken.
taken as (
  select m.id from own_message m where m.role <> 'assistant' and exists (
    select 1 from own_request r where r.in_turn and r.turn_id = m.turn_id and case
      when r.has_message then r.message_place > m.sequence
      else not exists (
        select 1 from own_message e
        where e.turn_id = m.turn_id and e.sequence <= m.sequence and e.created_at >= r.requested_at
      ) end
  )
),
event(kind, n) as (
  select 'run_started', count(*) from run
  union all select 'run_finished', count(*) from run where task_status in ('completed', 'failed')
  union all select 'history_append', count(*) from own_message
  union all select 'model_request', count(*) from own_request where in_run
  union all select 'model_response', count(*) from own_request where in_run
  union all select 'tool_call', count(*) from own_call
  union all select 'tool_result', count(*) from own_call where has_result
  union all select 'interruption', (select count(*) from own_compaction)
    + (select count(*) from own_turn where is_interrupted) + (select count(*) from own_call where is_denied)
),
node(kind, n) as (
  select 'Agent', count(distinct persona_id) from own_session
  union all select 'Run', count(*) from run
  union all select 'Subagent', count(*) from run where is_subagent = 1
  union all select 'Branch', (select count(*) from branch) + (select count(*) from forked_run)
  union all select 'Message', count(*) from own_message
  union all select 'Generation', count(*) from own_request
  union all select 'ToolCall', count(*) from own_call
  union all select 'ToolResult', count(*) from own_call where has_result
  union all select 'Summary', count(*) from own_compaction
  union all select 'Policy', count(distinct (origin, scope, file)) from permission_rules
  union all select 'Resource',
    (select count(*) from (select file_path from own_file union select file_path from file_paths))
    + (select count(*) from programs) + (select count(*) from program_events) + (select count(*) from tags)
    + (select count(*) from chat_users) + (select count(*) from chat_agents)
    + (select count(*) from chat_agent_changes) + (select count(*) from chat_conversations)
    + (select count(*) from chat_participants)
    + (select count(*) from inferred_values where table_name in ('permission_rules', 'programs', 'program_events')
      or table_name like 'chat@_%' escape '@')
),
edge(kind, n) as (
  select 'AGENT_HAS_RUN', count(*) from run
  union all select 'RUN_HAS_EVENT', cast(sum(n) as bigint) from event
  union all select 'EVENT_PRODUCES', (select count(*) from own_request where in_run)
    + (select count(distinct message_id) from own_request where has_message)
    + (select count(*) from own_call where has_result) + (select count(*) from own_compaction)
  union all select 'EVENT_CONSUMES', (select count(*) from taken)
    + (select count(*) from own_call where has_result) + (select count(*) from own_file where not is_written)
  union all select 'APPENDED_TO_HISTORY', count(*) from own_message
  union all select 'CALLS_TOOL', count(*) from own_call
  union all select 'RETURNS_RESULT', count(*) from own_call where has_result
  union all select 'DERIVED_FROM', count(*) from own_file where is_written
  union all select 'SUMMARIZES', count(*) from own_compaction
  union all select 'SPAWNED_FROM', count(*) from run where is_subagent = 1
  union all select 'INTERRUPTS', (select count(*) from own_call where is_denied)
    + (select count(*) from own_compaction c where c.parent_turn_id in (select id from own_turn))
    + (select count(*) from own_turn t where is_interrupted
      and (t.turn_type = 'compaction' or t.id in (select turn_id from own_message)))
  union all select 'FORKED_FROM', (select count(*) from forked_run) + (select count(*) from left_branch)
    + (select count(*) from run where is_subagent = 1 and parent_session_label in (select label from run))
)
select 'event', kind, n from event
union all select 'event', 'agent_forked', (select count(*) from forked_run)
  + (select count(*) from left_branch where has_fork_point)
union all select 'node', kind, n from node
union all select 'edge', kind, n from edge
"""


def counted_records(folder: Path) -> Counter[tuple[str, str]]:
    """Count the records of a graph by what they are and by their kind."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                record = json.loads(line)
                what = next((name for name in ("node", "edge") if name in record), "event")
                found[what, record["kind" if what == "event" else what]] += 1
    return found


def counted_rows(ledger: Path) -> Counter[tuple[str, str]]:
    """Count the records that the rows of a ledger give."""
    with open_ledger(ledger) as opened:
        return Counter({(what, kind): n for what, kind, n in opened.sql(_COUNTS)})


def differences(ledger: Path, folder: Path) -> Iterator[str]:
    """Go through the kinds whose counts differ."""
    written, expected = counted_records(folder), counted_rows(ledger)
    for what, kind in sorted(written.keys() | expected.keys()):
        if written[what, kind] != expected[what, kind]:
            yield f"{what} {kind}: {written[what, kind]} written, {expected[what, kind]} by SQL"


def main() -> None:
    """Compare a ledger with its export."""
    ledger, folder = map(Path, sys.argv[1:])
    for (what, kind), count in sorted(counted_records(folder).items()):
        print(f"{what:6} {kind:20} {count:>10,}")
    found = list(differences(ledger, folder))
    print(*(found or ["All counts equal those of SQL over the ledger."]), sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
