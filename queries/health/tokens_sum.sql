-- title: The tokens of a turn are those of its requests
-- question: Which turns have other token counts than their requests together?
-- why: Cost is computed from requests, and totals from turns: they must agree.
-- grain: turn
-- invariant: T1
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Turns without requests are not compared: a ledger of canonical tables alone has none.
with request_sums as (
  select turn_id, sum(input_tokens) as input, sum(output_tokens) as output, sum(cache_read_tokens) as cache_read,
    sum(cache_write_tokens) as cache_write, sum(reasoning_tokens) as reasoning,
    case
      when coalesce(sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens)) is not null
        then coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0) + coalesce(sum(cache_read_tokens), 0)
          + coalesce(sum(cache_write_tokens), 0)
    end as total
  from requests
  where turn_id is not null
  group by turn_id
),
compared_turn as (
  select t.id,
    concat_ws(', ',
      coalesce(cast(t.input_tokens as varchar), 'NULL'),
      coalesce(cast(t.output_tokens as varchar), 'NULL'),
      coalesce(cast(t.cached_input_tokens as varchar), 'NULL'),
      coalesce(cast(t.cache_write_tokens as varchar), 'NULL'),
      coalesce(cast(t.reasoning_tokens as varchar), 'NULL'),
      coalesce(cast(t.total_tokens as varchar), 'NULL')
    ) as stated,
    -- A sum that does not fit into its column is not known there.
    concat_ws(', ',
      coalesce(cast(try_cast(s.input as bigint) as varchar), 'NULL'),
      coalesce(cast(try_cast(s.output as bigint) as varchar), 'NULL'),
      coalesce(cast(try_cast(s.cache_read as bigint) as varchar), 'NULL'),
      coalesce(cast(try_cast(s.cache_write as bigint) as varchar), 'NULL'),
      coalesce(cast(try_cast(s.reasoning as bigint) as varchar), 'NULL'),
      coalesce(cast(try_cast(s.total as bigint) as varchar), 'NULL')
    ) as summed
  from turns t
  join request_sums s on s.turn_id = t.id
)
select 'turns' as table_name, id as row_id,
  'Input, output, cache reads, cache writes, reasoning and total are ' || stated || '; its requests sum to '
    || summed || '.' as reason
from compared_turn
where stated <> summed
order by row_id
