-- title: Principals are of a known type, and act in the end for a human or the system
-- question: Which principals have an unknown type, act for themselves, or act in the end for neither a human nor the system?
-- why: Somebody has to answer for what an agent does; a chain of delegation that ends in an agent, or nowhere, hides who.
-- grain: event or turn
-- invariant: S1
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: A principal that acts for nobody is not judged, nor a chain whose end the ledger does not know.
-- rows: only with programs, program_events, turn_context

-- Known actors: programs, and principals of events.
with known_actor as (
  select id, program_type as type from programs
  union
  select principal, principal_type from program_events where principal is not null and principal_type is not null
),
human_actor as (
  select id, max(case when type in ('human', 'system') then 1 else 0 end) as is_answerable from known_actor group by id
),
delegation as (
  select
    'program_events' as table_name, event_id as row_id, principal, on_behalf_of as chain,
    case
      when principal is not null and principal_type is null then json_extract_string(payload_json, '$.principal.type')
    end as unknown_type
  from program_events
  union all
  select
    'turn_context', c.turn_id, c.principal,
    coalesce(
      cast(json_extract(t.permissions_granted, '$.principal.chain') as varchar),
      cast(to_json([c.on_behalf_of]) as varchar)
    ),
    null
  from turn_context c
  join turns t on t.id = c.turn_id
  where c.on_behalf_of is not null
),
-- Everybody in a chain.
link as (
  select table_name, row_id, principal as id from delegation where principal is not null
  union all
  select table_name, row_id, case when json_valid(element) then json_extract_string(element, '$') end
  from (
    select table_name, row_id, unnest(regexp_extract_all(chain, '"[^"\\]*(?:\\.[^"\\]*)*"', 0)) as element from delegation
  )
),
circle as (
  select table_name, row_id from link group by table_name, row_id having count(id) > count(distinct id)
),
-- The last of each chain.
chain_end as (
  select table_name, row_id, case when json_valid(element) then json_extract_string(element, '$') end as last_id
  from (
    select table_name, row_id, regexp_extract(chain, '("[^"\\]*(?:\\.[^"\\]*)*")\]$', 1) as element from delegation
  )
)
select d.table_name, d.row_id,
  case
    when d.unknown_type is not null then 'Its principal is of the type ' || left(d.unknown_type, 100) || ', which is not known.'
    when c.row_id is not null then 'Its principal ' || coalesce(left(d.principal, 100) || ' ', '') || 'acts in a circle.'
    else 'Its principal acts in the end for ' || left(e.last_id, 100) || ', who is neither a human nor the system.'
  end as reason
from delegation d
left join chain_end e on e.table_name = d.table_name and e.row_id = d.row_id
left join circle c on c.table_name = d.table_name and c.row_id = d.row_id
left join human_actor h on h.id = e.last_id
where d.unknown_type is not null or c.row_id is not null or h.is_answerable = 0
order by d.table_name, d.row_id
