-- title: Risky calls
-- question: Which calls are risky, and what came of each?
-- why: These are the calls behind the figures of the risks, to be read one by one.
-- grain: call, target and risk
-- params: filters
-- column called_at: BIGINT; when it was called, in Unix ms
-- column session_label: VARCHAR; its session
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the call
-- column project: VARCHAR; the project
-- column origin: VARCHAR; the tool whose logs tell of it
-- column is_subagent: BOOLEAN; whether a subagent made it
-- column mode: VARCHAR; the permission mode in force, in the tool's word
-- column tool_name: VARCHAR; the tool
-- column target: VARCHAR; program and subcommand, path, host, server with its tool, kind of agent
-- column command: VARCHAR; of a command: as it is written, with what runs it, at most 200 characters
-- column risk: VARCHAR; the class of risk
-- column severity: VARCHAR; how bad it can be: high, medium, low
-- column is_inferred: BOOLEAN; whether that was concluded rather than read from the words of the call
-- column outcome: VARCHAR; what came of it
-- shown: called_at, severity, risk, command, outcome, tool_name, session_label, turn_id, project, target
-- empty: No call falls into a class of risk.
-- next: `aix show TURN` shows the turn
select
  called_at, session_label, turn_id, call_id, project, origin, is_subagent, mode, tool_name,
  target || coalesce(' ' || detail, '') as target,
  left(coalesce(nullif(wrappers, '') || ' ', '') || command, 200) as command,
  risk, severity,
  basis <> 'exact' as is_inferred,
  outcome
from v_counted_risks
order by called_at, call_id, number, risk
