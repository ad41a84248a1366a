-- title: Chains of delegation
-- question: Who acts for whom, and which chains end nowhere?
-- why: A chain that ends in no human and no system, or in itself, is work that nobody answers for.
-- grain: chain
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column chain: VARCHAR; the chain, from the principal to its end
-- column principal: VARCHAR; who acts
-- column length: BIGINT; how many take part, the principal among them
-- column is_longest: BOOLEAN; whether no chain is longer
-- column end_id: VARCHAR; who is at its end
-- column end_type: VARCHAR; what that is; NULL where it is not known
-- column is_cycle: BOOLEAN; whether it leads back into itself
-- column events: BIGINT; events of that principal and chain; 0 where only programs state it
-- shown: reason, status, severity, length, events, end_id
-- empty: Nobody acts for anybody.
-- next: `aix query programs/acting_without_permission` shows who acts for a human that may not
-- caveat: A chain goes on by onBehalfOf and owner of programs after what an event states.
-- remedy: Let onBehalfOf lead to a human: give it to the last agent of the chain, or change one in a circle.
-- rows: only with programs, program_events

-- Events by principal and what they state after it.
with used as (
  select principal, coalesce(on_behalf_of, '') as on_behalf_of, count(*) as events
  from program_events
  where principal is not null
  group by principal, coalesce(on_behalf_of, '')
),
-- Chains as one text, with their end.
walked as (
  select
    chain_id, principal, coalesce(on_behalf_of, '') as on_behalf_of,
    count(case when not is_repeated then 1 end) as length,
    string_agg(left(c.program_id, 60), ' → ' order by place) as chain,
    string_agg(coalesce(n.name, left(c.program_id, 40)), ' → ' order by place) as named_chain,
    max(case when is_last then c.program_id end) as end_id,
    max(case when is_last then program_type end) as end_type,
    bool_or(is_repeated) as is_cycle
  from v_principal_chains c
  left join v_program_names n on n.program_id = c.program_id
  group by chain_id, principal, coalesce(on_behalf_of, '')
),
-- Events and programs may state the same chain.
stated as (
  select
    w.chain, w.principal, w.end_id, w.is_cycle,
    max(w.length) as length,
    max(w.named_chain) as named_chain,
    max(w.end_type) as end_type,
    cast(coalesce(sum(u.events), 0) as bigint) as events
  from walked w
  left join used u on u.principal = w.principal and u.on_behalf_of = w.on_behalf_of
  group by w.chain, w.principal, w.end_id, w.is_cycle
),
-- How each ends.
judged as (
  select
    *,
    length = max(length) over () as is_longest,
    case
      when is_cycle then 'cycle'
      when end_type in ('human', 'system') then 'ok'
      when end_type is null then 'unknown'
      else 'open'
    end as verdict
  from stated
)
select
  left(principal, 200) as resource,
  case verdict when 'ok' then 'ok' when 'unknown' then 'skip' else 'alarm' end as status,
  '`' || replace(left(named_chain, 300), '`', '''') || '`'
    || case verdict
      when 'cycle' then ' is a circle.'
      when 'open' then case when length = 1 then ' acts for' else ' ends in' end || ' no human and no system.'
      when 'unknown' then ' ends with one of whom nothing is known.'
      else case when length = 1 then ' is a ' else ' ends in a ' end || end_type || '.'
    end as reason,
  case verdict when 'cycle' then 'medium' when 'open' then 'low' end as severity,
  chain, principal, length, is_longest, end_id, end_type, is_cycle, events
from judged
order by case verdict when 'cycle' then 0 when 'open' then 1 when 'ok' then 2 else 3 end, length desc, chain
