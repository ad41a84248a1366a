"""The SQL of one conversation: the turns that lead to the head of a session, and what they hold.

The order is that of the head's own ancestry; the ancestries of all other turns are left unread.
"""

_PLACES = """
    with ancestry as (
      select from_json(h.ancestry, '["VARCHAR"]') as ids
      from sessions s join threads h on h.turn_id = s.thread_id
      where s.label = $1
    ),
    places as (select unnest(ids) as turn_id, unnest(range(1, len(ids) + 1)) as place from ancestry)
"""
PLACES_OF_SESSION = f"""
    {_PLACES}
    select place, turn_id from places order by place
"""  # noqa: S608 - made of the text above
TURNS_OF_SESSION = f"""
    {_PLACES}
    select t.* from places p join turns t on t.id = p.turn_id order by p.place
"""  # noqa: S608
MESSAGES_OF_SESSION = f"""
    {_PLACES}
    select m.* from places p join messages m on m.turn_id = p.turn_id order by p.place, m.sequence, m.id
"""  # noqa: S608
