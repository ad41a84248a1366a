-- title: The messages of each turn
-- question: How many messages does a turn have, and how many of them have texts?
-- why: Messages are by far the most rows; to count them takes longer than all else that is asked of a turn.
-- grain: turn with messages
-- column turn_id: VARCHAR; the turn
-- column messages: BIGINT; its messages
-- column with_content: BIGINT; messages whose content is known
-- column with_thinking: BIGINT; messages whose thinking is known
-- column with_context: BIGINT; messages with context beside the text
-- column with_metadata: BIGINT; messages with metadata
-- kept: by family with messages
select
  turn_id,
  count(*) as messages,
  count(content) as with_content,
  count(thinking) as with_thinking,
  count(context_json) as with_context,
  count(metadata_json) as with_metadata
from messages
group by turn_id
