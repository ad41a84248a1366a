-- title: The types of edges of an agent graph
-- question: Between which kinds of nodes can an edge of each type be?
-- why: An edge that names only ids is resolved by the kinds that its type allows, and one of other kinds is wrong.
-- grain: edge type
-- column type: VARCHAR; the type
-- column src_kinds: VARCHAR; kinds of nodes that it can start at, with a blank between them; * for any
-- column dst_kinds: VARCHAR; kinds of nodes that it can lead to, with a blank between them; * for any
select type, src_kinds, dst_kinds
from (values
  ('AGENT_HAS_RUN', 'Agent', 'Run'),
  ('RUN_HAS_EVENT', 'Run', 'Event'),
  ('EVENT_PRODUCES', 'Event', 'Message Generation ToolResult Summary Snapshot'),
  ('EVENT_CONSUMES', 'Event', 'Message Generation ToolCall Resource'),
  ('APPENDED_TO_HISTORY', 'Run Agent', 'Message'),
  ('CALLS_TOOL', 'Event Generation', 'ToolCall'),
  ('RETURNS_RESULT', 'ToolCall', 'ToolResult'),
  ('MCP_RESOURCE_UPDATED', 'Event', 'Resource'),
  ('INTERRUPTS', 'Event', 'Event'),
  ('SUBSTITUTES', 'Event', 'Event'),
  ('SUMMARIZES', 'Summary', 'Message Event Run'),
  ('DERIVED_FROM', '*', '*'),
  ('OWNS_RESOURCE', 'Agent Run', 'Resource'),
  ('MOUNTS_RESOURCE', 'Run Container', 'Resource'),
  ('HAS_SUBRESOURCE', 'Resource', 'Resource'),
  ('SNAPSHOT_OF', 'Snapshot', 'Resource'),
  ('RESTORES_TO', 'Snapshot', 'Resource'),
  ('ATTACHED_TO', 'Resource', 'Run Agent'),
  ('FORKED_FROM', 'Branch Subagent', 'Agent Run Event'),
  ('SPAWNED_FROM', 'Subagent', 'Agent'),
  ('ACTIVATES_POLICY', 'Event', 'Policy'),
  ('PROPOSES_POLICY', 'Event', 'Policy')
) edge_type (type, src_kinds, dst_kinds)
