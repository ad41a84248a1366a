-- title: The turn of each id that stands for one
-- question: Which turn does an id mean that is its own, or that of its answer?
-- why: The ontology of turns calls a turn by the id of its final message; the ledger gives turns ids of their own.
-- grain: id
-- column id: VARCHAR; the id of a turn, or of the message that answers it
-- column turn_id: VARCHAR; the turn
select id, id as turn_id from turns
union
select response_message_id as id, id as turn_id from turns where response_message_id is not null
