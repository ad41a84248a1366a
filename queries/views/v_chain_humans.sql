-- title: Humans of chains of delegation
-- question: For which human does a principal act?
-- why: Costs and permissions of an agent are those of the human who asked first.
-- grain: principal and on_behalf_of
-- column principal: VARCHAR; who acts
-- column on_behalf_of: VARCHAR; the part of the chain that events state, as a JSON array; NULL where they state none
-- column human_id: VARCHAR; the first human of the chain
-- references: docs/programs.md#who-a-turn-counts-for; the human of a turn
-- rows: only with programs, program_events

select principal, on_behalf_of, min_by(program_id, place) as human_id
from v_principal_chains
where program_type = 'human'
group by principal, on_behalf_of
