-- title: History of programs
-- question: What happened to each program, and by whom?
-- why: Events are the only record of how a program came to its state.
-- grain: event
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- column program_id: VARCHAR; the program
-- column program_type: VARCHAR; its type
-- column occurred_at: BIGINT; when it happened, in Unix ms
-- column kind: VARCHAR; what happened
-- column from_state: VARCHAR; the state before: as the event states it, else that of the event before
-- column to_state: VARCHAR; the state after; NULL where nothing changes
-- column is_allowed: BOOLEAN; whether the lifecycle of the type allows the change; NULL where the type has no lifecycle, or the state before is not known
-- column principal: VARCHAR; who acted
-- column on_behalf_of: VARCHAR; for whom, as a JSON array
-- column reason: VARCHAR; the reason that it states
-- column event_id: VARCHAR; the event
-- shown: program_id, occurred_at, kind, principal, to_state, from_state, is_allowed
-- empty: No events of programs yet.
-- next: `aix query programs/transitions` names the changes that no lifecycle allows
-- references: docs/programs.md#lifecycles; states and changes of each type
-- rows: only with program_events
select
  program_id, program_type, occurred_at, kind, from_state, to_state, is_allowed, principal, on_behalf_of, reason, event_id
from v_program_history
where (getvariable('since') is null or occurred_at >= getvariable('since'))
  and (getvariable('until') is null or occurred_at < getvariable('until'))
order by program_id, event_order
