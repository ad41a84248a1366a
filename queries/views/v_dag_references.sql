-- title: References of events of agent graphs
-- question: Which nodes and events does an event name, and in which field?
-- why: Most edges of a graph follow from the fields of its events.
-- grain: event, field and name
-- column event_id: VARCHAR; the event
-- column event_kind: VARCHAR; what happened
-- column field: VARCHAR; the field
-- column name: VARCHAR; the id in it
-- caveat: A reference is an id, or an object with `event_id` or `id`. Other values are left out.
-- caveat: What a fork plans for each resource is not here; see `agent_dag/fork_plans`.
-- rows: only with dag_events

-- Fields with one reference, by kind of event.
with single_field as (
  select event_kind, field
  from (values
    ('model_response', 'output_ref'),
    ('model_response', 'reasoning_ref'),
    ('history_append', 'message_ref'),
    ('tool_call', 'requested_by'),
    ('policy_activated', 'policy_ref'),
    ('substitution', 'original_event'),
    ('substitution', 'replacement_event'),
    ('agent_forked', 'at_event'),
    ('snapshot_created', 'resource_ref'),
    ('snapshot_created', 'snapshot_ref'),
    ('snapshot_materialized', 'snapshot_ref'),
    ('resource_attached', 'resource_ref'),
    ('resource_detached', 'resource_ref'),
    ('resource_liveness_probe', 'resource_ref'),
    ('restore_attempted', 'snapshot_ref'),
    ('restore_attempted', 'new_resource_ref')
  ) known_field (event_kind, field)
),
reference as (
  select
    e.event_id, f.event_kind, f.field,
    coalesce(
      json_extract_string(e.payload_json, '$.' || f.field || '.event_id'),
      json_extract_string(e.payload_json, '$.' || f.field || '.id'),
      json_extract_string(e.payload_json, '$.' || f.field)
    ) as name
  from dag_events e
  join single_field f on f.event_kind = e.kind
  union all
  select
    event_id, event_kind, field,
    coalesce(
      case when json_valid(item) then json_extract_string(item, '$.event_id') end,
      case when json_valid(item) then json_extract_string(item, '$.id') end,
      item
    )
  from v_dag_list_items
  where field in ('affects', 'input_refs')
)
select event_id, event_kind, field, name
from reference
-- An object or a list without an id is no reference; an id that only begins like one is.
where name is not null and not (left(name, 1) in ('{', '[') and json_valid(name))
group by event_id, event_kind, field, name
