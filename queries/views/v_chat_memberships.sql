-- title: Memberships in chats
-- question: Who takes part in which chat, from when to when?
-- why: Audits of chats judge messages by the memberships of their time.
-- grain: participant
-- column participant_id: VARCHAR; the membership
-- column conversation_id: VARCHAR; the chat
-- column kind: VARCHAR; one of user, agent
-- column member_id: VARCHAR; the user or agent
-- column started_at: BIGINT; when it began, in Unix ms; the smallest number where the source does not say
-- column ended_at: BIGINT; when it ended, in Unix ms; the greatest number where it did not, or nobody knows when
-- column is_removed: BOOLEAN; whether it has ended
-- column is_end_known: BOOLEAN; whether it has not ended, or it is known when it did
-- rows: only with chat_participants
select
  id as participant_id,
  conversation_id,
  kind,
  case kind when 'user' then user_id else agent_id end as member_id,
  coalesce(added_at, -9223372036854775807) as started_at,
  case when coalesce(is_removed, true) then coalesce(removed_at, 9223372036854775807) else 9223372036854775807 end as ended_at,
  coalesce(is_removed, removed_at is not null) as is_removed,
  removed_at is not null or not coalesce(is_removed, false) as is_end_known
from chat_participants
