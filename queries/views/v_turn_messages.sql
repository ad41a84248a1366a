-- title: The messages of each turn
-- question: How many messages does a turn have?
-- why: Messages are by far the most rows; to count them takes longer than all else that is asked of a turn.
-- grain: turn with messages
-- column turn_id: VARCHAR; the turn
-- column messages: BIGINT; its messages
-- kept: by family with messages
select turn_id, count(*) as messages from messages group by turn_id
