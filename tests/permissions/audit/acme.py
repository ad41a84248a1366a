"""A pack of another distribution with an audit query and an inventory, and ledgers that it finds something in."""

from pathlib import Path

from tests.queries.other_packs import install
from tests.support.sample_conversation import MAIN, Row
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

TOOLS = """\
-- title: Tools
-- question: Which tools were called?
-- why: Each of them may do harm.
-- grain: tool by vendor
-- param since: timestamp = none; first moment counted
-- param session: text = none; only this one
-- column resource: VARCHAR; the tool
-- column status: VARCHAR; what it is about
-- column reason: VARCHAR; why
-- column severity: VARCHAR; how bad it is
-- column vendor: VARCHAR; whose model called it
-- column calls: BIGINT; how often
-- column last_called_at: BIGINT; when it was last called, in Unix ms
-- column session_label: VARCHAR; the session of the last call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last call
-- column is_inferred: BOOLEAN; whether that is a conclusion
-- caveat: A tool that was never called is not there.
select
  c.tool_name as resource,
  case c.tool_name when 'Read' then 'ok' when 'Grep' then 'info' when 'Glob' then 'skip' else 'alarm' end as status,
  case c.tool_name when 'Glob' then 'Nothing is known of Glob.' else 'The tool ' || c.tool_name || ' was called.' end
    as reason,
  case c.tool_name
    when 'Read' then null when 'Grep' then null when 'Glob' then null
    when 'Edit' then 'low' when 'Task' then 'medium' else 'high'
  end as severity,
  t.provider as vendor,
  count(*) as calls,
  max(c.started_at) as last_called_at,
  max(s.session_label) as session_label,
  max(c.turn_id) as turn_id,
  max(c.id) as call_id,
  c.tool_name = 'Edit' as is_inferred
from tool_calls c
join turns t on t.id = c.turn_id
left join session_turns s on s.turn_id = c.turn_id
where (getvariable('since') is null or c.started_at >= getvariable('since'))
  and (getvariable('session') is null or s.session_label = getvariable('session'))
group by c.tool_name, t.provider
order by calls desc, c.tool_name, t.provider
"""
PARAMETERS = """\
-- title: Parameters
-- question: Which parameters were given?
-- why: To see them.
-- grain: call
-- param session: text = none; only this one
-- column tool_name: VARCHAR; the tool
-- column started_at: BIGINT; when it began, in Unix ms
-- column params_json: VARCHAR; its parameters
select tool_name, started_at, params_json
from tool_calls
where getvariable('session') is null or getvariable('session') <> ''
order by id
"""


def install_acme(folder: Path, distribution: str = "acme-audits", pack: str = "acme", **more: str) -> None:
    """Put the pack into a folder of the search path, with more SQL files by name."""
    files = {"tools.sql": TOOLS, "parameters.sql": PARAMETERS, **{f"{name}.sql": sql for name, sql in more.items()}}
    install(folder, distribution, pack, files)


def write_called(ledger: Path, *tools: str, log: str | None = None) -> Path:
    """Write the sample with a call of each of these tools, `call_0` and so on, instead of its own calls."""
    first = SAMPLE_ROWS["tool_calls"][0]
    calls: list[Row] = [
        {**first, "id": f"call_{number}", "tool_name": tool, "started_at": 1_400 + number, "sequence": number}
        for number, tool in enumerate(tools)
    ]
    contexts = [{**row, "raw_path": log} if row["label"] == MAIN else row for row in SAMPLE_ROWS["session_context"]]
    write_ledger(ledger, {**SAMPLE_ROWS, "tool_calls": calls, "session_context": contexts})
    return ledger
