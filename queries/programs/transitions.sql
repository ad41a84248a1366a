-- title: Changes that no lifecycle allows
-- question: Which changes of programs does no lifecycle allow?
-- why: A task that is completed without being started, or an archived fact that is draft again, was changed past its rules.
-- grain: event_id
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column program_id: VARCHAR; the program
-- column program_type: VARCHAR; its type
-- column occurred_at: BIGINT; when it changed, in Unix ms
-- column kind: VARCHAR; the event that changed it
-- column from_state: VARCHAR; the state before
-- column to_state: VARCHAR; the state after
-- column principal: VARCHAR; who acted
-- column event_id: VARCHAR; the event
-- shown: reason, severity, program_id, occurred_at, principal
-- empty: All changes of programs follow their lifecycles.
-- next: `aix program show ID` shows the history of one program
-- caveat: A change whose state before is not known is not judged; nor are different changes at the same time, as their order is not known.
-- remedy: Look at the events before it, and fix the software that wrote them.
-- references: docs/programs.md#lifecycles; states and changes of each type
-- rows: only with program_events
select
  left(h.program_id, 200) as resource,
  'alarm' as status,
  '`' || replace(coalesce(n.name, left(h.program_id, 40)), '`', '''') || '`: '
    || case
      when not h.is_known_state then h.to_state || ' is no state of the type ' || h.program_type || '.'
      else h.from_state || ' → ' || h.to_state || ' is not allowed.'
    end as reason,
  'low' as severity,
  h.program_id, h.program_type, h.occurred_at, h.kind, h.from_state, h.to_state, h.principal, h.event_id
from v_program_history h
left join v_program_names n on n.program_id = h.program_id
where (not h.is_allowed or not h.is_known_state)
  and (getvariable('since') is null or h.occurred_at >= getvariable('since'))
  and (getvariable('until') is null or h.occurred_at < getvariable('until'))
order by h.event_order
