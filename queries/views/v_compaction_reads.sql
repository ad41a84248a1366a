-- title: The files that were read on both sides of a compaction
-- question: Which files were read before a compaction and again after it, in which turns, and at what price?
-- why: What has to be read again is what the summary did not keep.
-- grain: compaction, file and message that read it
-- column compaction_turn_id: VARCHAR; the compaction
-- column file_path: VARCHAR; a file that was read before it and after it
-- column message_id: VARCHAR; the message whose calls read it
-- column distance: BIGINT; of its turn: -1 is the last turn before the compaction, 1 the first after
-- column result_tokens: BIGINT; tokens of context that it took; NULL when no call of the message is known to have read it
-- column is_measured: BOOLEAN; whether the context's growth shows these tokens; else they are estimated from the length
-- column intake_price_usd: DECIMAL(18,12); after the compaction: list price of a token for the request that took it in
-- caveat: A call reads the file whose path it names, from the root or the workspace on; else each that ends with that path.
-- kept: by family with compactions

-- All readings of files around compactions.
with file_reading as (
  select k.compaction_turn_id, f.file_path, f.message_id, k.distance
  from v_compaction_turns k
  join messages m on m.turn_id = k.turn_id
  join message_files f on f.message_id = m.id
  where f.kind = 'read'
  group by k.compaction_turn_id, f.file_path, f.message_id, k.distance
),
-- Files that were read before and after the same compaction.
file_on_both_sides as (
  select compaction_turn_id, file_path
  from file_reading
  group by compaction_turn_id, file_path
  having min(distance) < 0 and max(distance) > 0
),
-- The readings of these files.
reading_on_both_sides as (
  select r.*
  from file_reading r
  join file_on_both_sides b on b.compaction_turn_id = r.compaction_turn_id and b.file_path = r.file_path
),
-- Each file of a message once, whatever compactions are near.
read_file as (
  select message_id, file_path from file_reading group by message_id, file_path
),
-- Of several files of a message that a path could mean, it is the one in the workspace's own folder.
meant_file as (
  select
    f.message_id,
    f.file_path,
    c.result_tokens,
    c.is_measured,
    rank() over (
      partition by c.call_id
      order by
        case
          when f.file_path in (
            d.raw_target, c.workspace_path || '/' || d.raw_target, c.workspace_path || '\' || d.raw_target
          ) then 0
          else 1
        end
    ) as place
  from read_file f
  join v_calls c on c.message_id = f.message_id
  join permission_decisions d on d.call_id = c.call_id
  where d.class = 'read'
    and c.status = 'completed'
    and (
      f.file_path = d.raw_target
      or right(f.file_path, length(d.raw_target) + 1) in ('/' || d.raw_target, '\' || d.raw_target)
    )
),
-- The size of the results that showed a file to the model.
file_result as (
  select
    message_id,
    file_path,
    cast(sum(result_tokens) as bigint) as result_tokens,
    bool_and(is_measured) as is_measured
  from meant_file
  where place = 1
  group by message_id, file_path
),
-- After each request of a message, the price of taking in its results by the next.
next_intake as (
  select
    compaction_turn_id,
    message_id,
    lead(intake_price_usd) over (partition by compaction_turn_id order by place) as intake_price_usd
  from v_compaction_requests
),
-- One price for each message.
intake_price as (
  select compaction_turn_id, message_id, min(intake_price_usd) as intake_price_usd
  from next_intake
  group by compaction_turn_id, message_id
)
select
  a.compaction_turn_id,
  a.file_path,
  a.message_id,
  a.distance,
  r.result_tokens,
  coalesce(r.is_measured, false) as is_measured,
  i.intake_price_usd
from reading_on_both_sides a
left join file_result r on r.file_path = a.file_path and r.message_id = a.message_id
left join intake_price i on i.compaction_turn_id = a.compaction_turn_id and i.message_id = a.message_id
