-- title: Threads that go on as another persona
-- question: Which threads go on as one that may do more?
-- why: A thread that goes on under another persona may do what it was not begun to do.
-- grain: session, from_persona_id and persona_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column how: VARCHAR; fork, its turns follow one of another session; subagent, another session started it
-- column from_session_label: VARCHAR; the session that it comes from
-- column from_persona_id: VARCHAR; the persona of that session
-- column persona_id: VARCHAR; the persona as which it goes on
-- column gained: BIGINT; permissions that only the latter has
-- column gains: VARCHAR; the first of them
-- column is_inferred: BOOLEAN; whether the row rests on a conclusion rather than on what log and file say
-- column changed_at: BIGINT; when it began, in Unix ms
-- column session_label: VARCHAR; the session
-- column turn_id: VARCHAR; its first turn
-- shown: severity, from_persona_id, persona_id, gained, gains, how, session_label, reason
-- empty: No thread goes on as another persona.
-- next: `aix tree SESSION` draws where a session forks
-- caveat: Personas that only logs name have no known permissions; a change from or to one is skipped.
-- remedy: Give both sessions one persona in the file of personas, or take the permissions from the second.
-- references: docs/personas.md#audits; how permissions are compared

-- Sessions whose own turns follow a turn of another, and sessions that another started.
with forked_session as (
  select o.session_label, f.session_label as from_session_label, min(t.started_at) as changed_at, 'fork' as how
  from turns t
  join v_turn_owner o on o.turn_id = t.id
  join v_turn_owner f on f.turn_id = t.parent_turn_id
  where f.session_label <> o.session_label
  group by o.session_label, f.session_label
  union all
  select d.session_label, d.ancestor_label, s.created_at, 'subagent'
  from v_subagents d
  join sessions s on s.label = d.session_label
  where d.distance = 1
),
-- Of these, those that have another persona.
changed_session as (
  select c.*, f.persona_id as from_persona_id, p.persona_id, s.origin
  from forked_session c
  join sessions s on s.label = c.session_label
  join v_session_personas p on p.session_label = c.session_label
  join v_session_personas f on f.session_label = c.from_session_label
  where p.persona_id <> f.persona_id
    and (getvariable('since') is null or c.changed_at >= getvariable('since'))
    and (getvariable('until') is null or c.changed_at < getvariable('until'))
),
-- The permissions that these gain, with the first few as a text.
gained_permission as (
  select
    c.session_label, c.from_session_label, count(g.kind) as gained,
    string_agg(case when g.place <= 3 then left(g.said, 100) end, ', ' order by g.place) as gains
  from changed_session c
  left join (select origin from persona_gains group by origin) k on k.origin = c.origin
  join (
    select
      origin, from_persona_id, to_persona_id, kind,
      case
        when gained = '*' then case kind
          when 'credential' then 'every credential' when 'read' then 'reading everywhere'
          when 'write' then 'writing everywhere' when 'host' then 'every host' else 'every tool' end
        when kind = 'deny' then gained || ' (denied before)'
        when kind = 'ask' then gained || ' (when asked)'
        when kind = 'credential' then 'the credential ' || gained
        when kind = 'read' then 'reading ' || gained
        when kind = 'write' then 'writing to ' || gained
        when kind = 'host' then 'the host ' || gained
        else gained
      end as said,
      row_number() over (partition by origin, from_persona_id, to_persona_id order by kind, gained) as place
    from persona_gains
  ) g
    on g.from_persona_id = c.from_persona_id and g.to_persona_id = c.persona_id
    and coalesce(g.origin, '') = coalesce(k.origin, '')
  group by c.session_label, c.from_session_label
),
-- The first of their turns that the question counts.
counted_session as (
  select session_label, turn_id
  from (
    select
      t.session_label, t.turn_id,
      row_number() over (partition by t.session_label order by t.started_at, t.turn_id) as place
    from v_counted_turns t
    join (select distinct session_label from changed_session) c on c.session_label = t.session_label
  ) ranked
  where place = 1
),
judged_session as (
  select
    c.*, coalesce(g.gained, 0) as gained, g.gains, n.turn_id,
    case
      when a.persona_id is null or b.persona_id is null then 'skip'
      when g.gained > 0 then 'alarm'
      else 'ok'
    end as status
  from changed_session c
  join counted_session n on n.session_label = c.session_label
  left join gained_permission g
    on g.session_label = c.session_label and g.from_session_label = c.from_session_label
  left join personas a on a.persona_id = c.from_persona_id
  left join personas b on b.persona_id = c.persona_id
)
select
  left(session_label, 200) as resource,
  status,
  case how when 'fork' then 'It goes on from ' else 'It was started by ' end || left(from_session_label, 200)
    || ', of the persona ' || from_persona_id || ', as the persona ' || persona_id
    || case status
      when 'alarm' then ', and gains ' || gains || case when gained > 3 then ' and more.' else '.' end
      when 'ok' then ', and gains no permission.'
      else ', whose permissions are not known.'
    end as reason,
  case when status = 'alarm' then 'medium' end as severity,
  how, from_session_label, from_persona_id, persona_id, gained, gains,
  false as is_inferred,
  changed_at, session_label, turn_id
from judged_session
order by case status when 'alarm' then 0 when 'ok' then 1 else 2 end, changed_at desc, session_label, from_session_label
