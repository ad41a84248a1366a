"""The SQL of one conversation: the turns that lead to the head of a session, and the context of a turn.

The order is that of the head's own ancestry; the ancestries of all other turns are left unread.

A context is what the model saw when a turn began: a summary, the turns that its compaction kept, and those since;
without a compaction it is all turns from the root. What a turn took of it is measured where requests report the whole
context on both sides: that of its last request less that of the last request of the turn before. Where nothing is
reported before it, it is measured from its own first request on, and its prompt estimated. Else all of it is estimated
from lengths, 4 characters to a token. What is then missing to the figure that the turn's own first request reports is
what no log shows: the system prompt, the definitions of tools, and what the estimates miss.
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
CONTEXT_OF_TURN = """
    with ancestry as (
      select from_json(h.ancestry, '["VARCHAR"]') as ids from threads h where h.turn_id = $turn
    ),
    place as (select unnest(ids) as turn_id, unnest(range(1, len(ids) + 1)) as place from ancestry),
    way as (
      select
        p.place, p.turn_id, t.started_at, t.tool_call_count, p.turn_id = $turn as is_asked,
        c.turn_id is not null as is_compaction, c.first_kept_turn_id, c.tokens_before, c.summary_tokens,
        coalesce(json_extract_string(c.metadata_json, '$.summary_tokens_estimated') = 'true', false) as is_estimated
      from place p
      join turns t on t.id = p.turn_id
      left join compactions c on c.turn_id = p.turn_id
    ),
    last_compaction as (
      select place, first_kept_turn_id from way where is_compaction and not is_asked order by place desc limit 1
    ),
    seen as (
      select
        w.*,
        case
          when w.is_asked then 'this'
          when w.place = c.place then 'summary'
          when w.place < c.place then 'kept'
          else 'later'
        end as part
      from way w
      left join last_compaction c on true
      left join place k on k.turn_id = c.first_kept_turn_id
      where c.place is null or w.place >= c.place or w.place >= k.place
    ),
    request as (
      select
        r.turn_id, r.context_tokens,
        row_number() over (
          partition by r.turn_id order by r.seq nulls last, r.requested_at, r.request_id
        ) as from_first,
        row_number() over (
          partition by r.turn_id order by r.seq desc nulls first, r.requested_at desc, r.request_id desc
        ) as from_last
      from v_requests r
      where r.turn_id in (select turn_id from place) and r.kind = 'main' and r.has_usage
    ),
    reported as (
      select
        turn_id,
        count(*) as requests,
        max(case when from_first = 1 then context_tokens end) as first_tokens,
        max(case when from_last = 1 then context_tokens end) as last_tokens
      from request
      group by turn_id
    ),
    growth as (
      select
        w.turn_id,
        case when w.is_asked then case when w.is_compaction then w.tokens_before else r.first_tokens end
          else r.last_tokens end as context_tokens,
        -- The turn before a compaction is no measure of what follows it.
        case when not coalesce(lag(w.is_compaction) over path, false) then lag(r.last_tokens) over path end
          as before_tokens,
        case when r.requests > 1 then r.last_tokens - r.first_tokens end as inner_tokens
      from way w
      left join reported r on r.turn_id = w.turn_id
      window path as (order by w.place)
    ),
    answer as (
      select turn_id, min(sequence) as sequence
      from messages
      where turn_id in (select turn_id from seen) and role = 'assistant'
      group by turn_id
    ),
    -- Thinking of earlier turns is not sent again, and what the tool itself notes never is.
    told as (
      select
        m.turn_id,
        sum(case when f.text_chars between 0 and 1000000000000 then f.text_chars end) as chars,
        sum(case when f.text_chars between 0 and 1000000000000 and (a.sequence is null or m.sequence < a.sequence)
          then f.text_chars end) as prompt_chars
      from messages m
      left join message_facts f on f.message_id = m.id
      left join answer a on a.turn_id = m.turn_id
      where m.turn_id in (select turn_id from seen) and m.role <> 'system'
      group by m.turn_id
    ),
    called as (
      select
        c.turn_id,
        coalesce(sum(case when f.params_bytes between 0 and 1000000000000 then f.params_bytes end), 0)
        + coalesce(sum(case when f.result_chars between 0 and 1000000000000 then f.result_chars end), 0) as chars
      from tool_calls c
      join tool_call_facts f on f.call_id = c.id
      where c.turn_id in (select turn_id from seen where not is_asked)
      group by c.turn_id
    ),
    spoken as (
      select turn_id, content
      from (
        select
          m.turn_id, left(m.content, 400) as content,
          row_number() over (
            partition by m.turn_id order by case when m.role = 'user' then 0 else 1 end, m.sequence, m.id
          ) as number
        from messages m
        where m.turn_id in (select turn_id from seen where not is_compaction)
          and m.role in ('user', 'assistant') and trim(m.content) <> ''
      )
      where number = 1
      union all
      select turn_id, left(summary, 400) as content
      from compactions
      where turn_id in (select turn_id from seen where is_compaction)
    ),
    estimate as (
      select
        s.turn_id,
        cast(ceil(t.prompt_chars / 4) as bigint) as prompt_tokens,
        case
          when s.is_asked then cast(ceil(t.prompt_chars / 4) as bigint)
          when coalesce(t.chars, c.chars) is not null
            then cast(ceil((coalesce(t.chars, 0) + coalesce(c.chars, 0)) / 4) as bigint)
        end as tokens
      from seen s
      left join told t on t.turn_id = s.turn_id
      left join called c on c.turn_id = s.turn_id
    ),
    measure as (
      select
        s.turn_id,
        case
          when g.context_tokens - g.before_tokens is not null then g.context_tokens - g.before_tokens
          when not s.is_asked then g.inner_tokens + coalesce(e.prompt_tokens, 0)
        end as tokens
      from seen s
      join growth g on g.turn_id = s.turn_id
      join estimate e on e.turn_id = s.turn_id
    ),
    sized as (
      select
        s.place, s.part, s.turn_id, s.started_at, s.tool_call_count, s.is_asked, g.context_tokens,
        case when s.is_compaction and not s.is_asked then s.summary_tokens else coalesce(m.tokens, e.tokens) end
          as tokens,
        case
          when s.is_compaction and not s.is_asked
            then case when s.summary_tokens is null then null when s.is_estimated then 'estimated' else 'reported' end
          when m.tokens is not null then 'measured'
          when e.tokens is not null then 'estimated'
        end as basis
      from seen s
      join growth g on g.turn_id = s.turn_id
      join measure m on m.turn_id = s.turn_id
      join estimate e on e.turn_id = s.turn_id
    ),
    total as (
      select
        max(case when is_asked then context_tokens end) as context_tokens,
        try_cast(sum(tokens) as bigint) as tokens
      from sized
    ),
    part as (
      select
        3 as rank, 0 as place, 'unlogged' as part, null as turn_id, null as started_at, null as tool_call_count,
        t.context_tokens - coalesce(t.tokens, 0) as tokens,
        case when t.context_tokens is not null then 'computed' end as basis,
        null as context_tokens
      from total t
      union all
      select
        case when part = 'summary' then 1 else 2 end, place, part, turn_id, started_at, tool_call_count, tokens, basis,
        context_tokens
      from sized
    )
    select
      cast(row_number() over (order by p.rank, p.place) as bigint) as position,
      p.part,
      p.turn_id,
      cast(p.started_at as bigint) as started_at,
      b.content as beginning,
      cast(p.tool_call_count as bigint) as tool_calls,
      p.tokens,
      p.basis,
      try_cast(sum(p.tokens) over (order by p.rank, p.place rows unbounded preceding) as bigint) as running_tokens,
      cast(p.context_tokens as bigint) as context_tokens
    from part p
    left join spoken b on b.turn_id = p.turn_id
    order by p.rank, p.place
"""
TURNS_TO_GO_ON_WITH = """
    with ancestry as (
      select from_json(h.ancestry, '["VARCHAR"]') as ids from threads h where h.turn_id = $1
    ),
    way as (select unnest(ids) as turn_id, unnest(range(1, len(ids) + 1)) as place from ancestry),
    last_compaction as (
      select w.place, k.place as first_kept
      from way w
      join compactions c on c.turn_id = w.turn_id
      left join way k on k.turn_id = c.first_kept_turn_id
      order by w.place desc limit 1
    )
    select w.place, w.turn_id, coalesce(w.place = c.place, false) as is_summary
    from way w left join last_compaction c on true
    where c.place is null or w.place >= least(c.place, coalesce(c.first_kept, c.place))
    order by is_summary desc, w.place
"""
"""The turns that a model sees after one: the summary of the last compaction, those that it kept, and those since."""
HEAD_OF_SESSION = "select thread_id from sessions where label = $1"
