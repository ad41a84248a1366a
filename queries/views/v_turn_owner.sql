-- title: The owner of each turn
-- question: Which session does a turn count for when several share it?
-- why: A resumed or forked session repeats the turns of another; in totals each turn counts once.
-- grain: turn
-- column turn_id: VARCHAR; the turn
-- column session_label: VARCHAR; of the sessions whose logs hold the turn, the one that began first
-- references: docs/economics.md#one-turn-one-owner; the session that a turn counts for
-- kept: by family with session_turns
with session_beginning as (
  select session_label, min(changed_at) as began_at from session_history group by session_label
),
-- Nearly every turn stands in one log: only the others need a choice.
candidate_owner as (
  select s.turn_id, s.session_label, count(*) over (partition by s.turn_id) as candidates from session_turns s
),
ranked_owner as (
  select
    c.turn_id,
    c.session_label,
    row_number() over (partition by c.turn_id order by b.began_at nulls last, c.session_label) as place
  from candidate_owner c
  left join session_beginning b on b.session_label = c.session_label
  where c.candidates > 1
)
select turn_id, session_label from candidate_owner where candidates = 1
union all
select turn_id, session_label from ranked_owner where place = 1
