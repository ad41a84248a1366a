"""The logs on compaction give the rows that they were made for."""

from aix.reading.ledger import Ledger
from tests.queries.compactions_by_hand import compactions_by_hand

COMPACTIONS = """
select
  substr(x.origin_session_id, 1, 8) as session,
  strftime(make_timestamp(t.started_at * 1000), '%H:%M:%S') as day_time,
  c.tokens_before, v.tokens_after, c.summary_tokens, c.turns_summarized
from compactions c
join v_compactions v on v.turn_id = c.turn_id
join turns t on t.id = c.turn_id
join turn_context x on x.turn_id = c.turn_id
order by session, day_time
"""
STATED = """
select v.tokens_after, v.messages_tokens_after, c.tokens_after
from v_compactions v
join compactions c on c.turn_id = v.turn_id
where v.session_label like '%:a0c0de0a%'
"""
ROUND = """
select count(*) from requests
where session_label like '%:a0c0de%' and kind = 'main' and context_tokens % 1000 <> 0
"""
MICRO = """
select count(*) from messages where json_extract_string(metadata_json, '$.microcompact.tokensSaved') = '20000'
"""


def test_every_compaction_is_in_the_table_made_by_hand(filled: Ledger) -> None:
    assert [row[:6] for row in compactions_by_hand()] == filled.sql(COMPACTIONS).rows()


def test_what_the_log_states_of_the_messages_alone_is_kept_where_no_request_tells_the_context(filled: Ledger) -> None:
    assert filled.sql(STATED).rows() == [(None, 5000, 5000)]


def test_every_context_is_a_round_number(filled: Ledger) -> None:
    assert filled.sql(ROUND).rows() == [(0,)]


def test_a_micro_compaction_is_a_message_and_no_compaction(filled: Ledger) -> None:
    assert filled.sql(MICRO).rows() == [(1,)]
    assert "a0c0de06" not in {row.session for row in compactions_by_hand()}
