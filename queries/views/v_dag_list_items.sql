-- title: Items of lists in events of agent graphs
-- question: What is in the lists of references, and in the plans of forks?
-- why: Each item of such a list is a statement of its own.
-- grain: event, field and item
-- column event_id: VARCHAR; the event
-- column event_kind: VARCHAR; what happened
-- column field: VARCHAR; the list: affects, input_refs or volume_plan
-- column item: VARCHAR; a text as it is, or an object as JSON
-- caveat: An item that a list has twice is here once.
-- rows: only with dag_events
with list as (
  select
    event_id, kind as event_kind,
    case kind when 'interruption' then 'affects' when 'model_request' then 'input_refs' else 'volume_plan' end as field,
    payload_json
  from dag_events
  where kind in ('interruption', 'model_request', 'agent_forked')
)
select distinct event_id, event_kind, field, item
from (
  select event_id, event_kind, field, unnest(from_json(json_extract(payload_json, '$.' || field), '["VARCHAR"]')) as item
  from list
) listed
where item is not null
