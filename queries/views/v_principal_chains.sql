-- title: Chains of delegation
-- question: Who acts for whom, from a principal to the one who asked first?
-- why: An agent answers to the one at the end of its chain, and may do no more than that one.
-- grain: chain_id and place
-- column chain_id: VARCHAR; the chain: the principal, and what events state after it
-- column principal: VARCHAR; who acts
-- column on_behalf_of: VARCHAR; the part that events or turns state, as a JSON array; NULL where they state none
-- column place: BIGINT; 1 for the principal, 2 for the one it acts for, and so on
-- column program_id: VARCHAR; who is at that place
-- column program_type: VARCHAR; what that is: the type of the program, else what events say of it
-- column is_repeated: BOOLEAN; whether it is in the chain before: the chain is a cycle
-- column is_last: BOOLEAN; whether the chain ends there
-- caveat: After the part that is stated, a chain goes on by onBehalfOf of the last program, else by its owner.
-- caveat: Chains of turns count where the ledger has programs or their events.
-- rows: only with programs, program_events

-- Whether there are programs or events: without them, nobody asks for chains.
with recursive asked as (
  select count(*) as programs
  from (
    select id from programs
    union all
    select event_id from program_events
  ) described
),
-- Chains that events and turns state.
stated_chain as (
  select principal, on_behalf_of, principal_type from program_events where principal is not null
  union all
  select
    c.principal,
    coalesce(
      cast(json_extract(t.permissions_granted, '$.principal.chain') as varchar),
      cast(to_json([c.on_behalf_of]) as varchar)
    ),
    json_extract_string(t.permissions_granted, '$.principal.type')
  from turn_context c
  join asked a on a.programs > 0
  join turns t on t.id = c.turn_id
  where c.principal is not null and c.on_behalf_of is not null
),
-- These chains, and those of programs that nobody acted as.
acting as (
  select
    principal, on_behalf_of,
    max(principal_type) as principal_type,
    coalesce(cast(json_array_length(on_behalf_of) as bigint), 0) as stated
  from stated_chain
  group by principal, on_behalf_of
  union all
  select p.id, null, p.program_type, 0
  from programs p
  left join (select principal from program_events where on_behalf_of is null group by principal) e on e.principal = p.id
  where p.program_type in ('agent', 'session') and e.principal is null
),
-- One next program for each.
delegation as (
  select program_id, coalesce(on_behalf_of_id, owner_id) as next_id
  from v_program_roles
  where coalesce(on_behalf_of_id, owner_id) is not null
),
-- Humans by the objects of events that say so.
human_object as (
  select unnest(regexp_extract_all(payload_json, '"id":"([^"\\]*)"[^{}]*"type":"human"', 1)) as id
  from program_events
  where on_behalf_of is not null and contains(payload_json, '"type":"human"')
),
-- Humans that events name in a chain, or as principal. In a WITH RECURSIVE, DuckDB 1.4 leaves duplicates in any UNION.
stated_human as (
  select distinct id
  from (
    select case when id like '@(%)' then trim(substr(id, 3, length(id) - 3)) else trim(id) end as id from human_object
    union all
    select principal from program_events where principal_type = 'human'
  ) named
),
-- Places that events state.
stated_place as (
  select principal || coalesce(' ' || on_behalf_of, '') as chain_id, principal, on_behalf_of, principal_type, stated,
    unnest(generate_series(0, stated)) as step
  from acting
),
-- The program at each of them.
stated_program as (
  select
    chain_id, principal, on_behalf_of, principal_type, stated,
    cast(step as bigint) as step,
    case when step = 0 then principal else json_extract_string(on_behalf_of, '$[' || (step - 1) || ']') end as program_id
  from stated_place
),
-- The programs after these, until one is repeated.
walked as (
  select
    chain_id, principal, on_behalf_of, principal_type, step, program_id, stated,
    chr(10) || program_id || chr(10) as later_ids,
    step < stated as is_ended
  from stated_program
  union all
  select
    w.chain_id, w.principal, w.on_behalf_of, w.principal_type, w.step + 1, d.next_id, w.stated,
    w.later_ids || d.next_id || chr(10),
    contains(w.later_ids, chr(10) || d.next_id || chr(10)) or w.step >= 50
  from walked w
  join delegation d on d.program_id = w.program_id
  where not w.is_ended
),
-- Whether a program was there before.
placed as (
  select
    w.*,
    row_number() over (partition by w.chain_id, w.program_id order by w.step) > 1 as is_repeated
  from walked w
),
-- Programs after the first repetition are left out.
cut as (
  select
    *,
    sum(case when is_repeated then 1 else 0 end) over (
      partition by chain_id order by step rows between unbounded preceding and 1 preceding
    ) as repeated_before
  from placed
)
select
  c.chain_id, c.principal, c.on_behalf_of,
  c.step + 1 as place,
  c.program_id,
  coalesce(
    p.program_type, case when c.step = 0 then c.principal_type end, case when h.id is not null then 'human' end
  ) as program_type,
  c.is_repeated,
  row_number() over (partition by c.chain_id order by c.step desc) = 1 as is_last
from cut c
left join programs p on p.id = c.program_id
left join stated_human h on h.id = c.program_id
where coalesce(c.repeated_before, 0) = 0
