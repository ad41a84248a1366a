-- title: Tags that events give
-- question: Which tags do the events of programs leave in force?
-- why: An event that takes a tag away may stand in another file than the one that gave it, and be imported before it.
-- grain: node_id and tag
-- column node_id: VARCHAR; the id that the events name: of a program, a session or anything else
-- column tag: VARCHAR; the tag
-- column added_at: BIGINT; when it was given, in Unix ms, by the first event since it was last taken away; NULL when no such event has a time
-- caveat: Events are ordered by their times; events of one moment by their places in their files.
-- rows: only with program_events
with tag_event as (
  select
    event_id,
    kind,
    program_id,
    occurred_at,
    position,
    coalesce(
      json_extract_string(payload_json, '$.data.tags'),
      json_extract_string(payload_json, '$.payload.tags'),
      json_extract_string(payload_json, '$.tags')
    ) as listed,
    coalesce(
      json_extract_string(payload_json, '$.data.tag'),
      json_extract_string(payload_json, '$.payload.tag'),
      json_extract_string(payload_json, '$.tag')
    ) as single
  from program_events
  where kind in ('NodeTagged', 'NodeUntagged') and program_id is not null
),
-- A list of tags, and how many there are.
tag_list as (
  select
    event_id, kind, program_id, occurred_at, position, listed,
    cast(json_array_length(listed) as bigint) as entries
  from tag_event
  where starts_with(listed, '[')
),
tag_place as (
  select event_id, kind, program_id, occurred_at, position, listed, unnest(generate_series(0, entries - 1)) as place
  from tag_list
  where entries > 0
),
tag_change as (
  select event_id, kind, program_id, occurred_at, position, single as tag from tag_event where single is not null
  union
  select event_id, kind, program_id, occurred_at, position, listed as tag from tag_event where not starts_with(listed, '[')
  union
  select event_id, kind, program_id, occurred_at, position, json_extract_string(listed, '$[' || place || ']') as tag
  from tag_place
),
ordered_change as (
  select
    kind, program_id, tag, occurred_at,
    row_number() over (
      partition by program_id, tag
      order by coalesce(occurred_at, 0), coalesce(position, 0), event_id
    ) as place
  from tag_change
  where tag is not null and tag <> ''
),
last_end as (
  select program_id, tag, max(case when kind = 'NodeUntagged' then place else 0 end) as place
  from ordered_change
  group by program_id, tag
)
select c.program_id as node_id, c.tag, min(c.occurred_at) as added_at
from ordered_change c
join last_end e on e.program_id = c.program_id and e.tag = c.tag
where c.place > e.place
group by c.program_id, c.tag
