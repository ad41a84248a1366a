-- title: Events of agent graphs, in the order of their runs
-- question: Which events are there, to which run does each belong, and where in it?
-- why: An event may leave its run, its agent and its place to edges; queries find all of them here.
-- grain: event
-- column event_id: VARCHAR; the event: the hash of what it says
-- column claimed_event_id: VARCHAR; the id that the source gives it
-- column kind: VARCHAR; what happened
-- column occurred_at: BIGINT; when it happened, in Unix ms
-- column agent_id: VARCHAR; the agent: as the event says, else as other events of its run or an edge AGENT_HAS_RUN say
-- column run_id: VARCHAR; the run: as the event says, else as an edge RUN_HAS_EVENT says
-- column seq: BIGINT; its number in the run: as an edge RUN_HAS_EVENT says, else as the event says
-- column place: BIGINT; its place among the events of the run, from 1; NULL without a run
-- column position: BIGINT; its place in its log, from 0
-- column correlation_id: VARCHAR; the id that ties a request to its answer and to the calls that follow
-- column payload_json: VARCHAR; the event without its id
-- caveat: A run is in the order of `seq` where all its events have one, else in the order of time and of the log.
-- caveat: An event that edges put into several runs is in the first by id, unless it names one itself.
-- rows: only with dag_events

-- Runs and numbers that edges state.
with stated_place as (
  select
    n.event_id,
    e.src as run_id,
    min(
      try_cast(
        coalesce(json_extract_string(e.payload_json, '$.seq'), json_extract_string(e.payload_json, '$.attrs.seq')) as bigint
      )
    ) as seq
  from dag_edges e
  join v_dag_event_names n on n.name = e.dst
  where e.type = 'RUN_HAS_EVENT'
  group by n.event_id, e.src
),
-- Of several runs the first.
stated_run as (
  select event_id, min(run_id) as run_id from stated_place group by event_id
),
-- Agents that edges state.
stated_agent as (
  select dst as run_id, min(src) as agent_id from dag_edges where type = 'AGENT_HAS_RUN' group by dst
),
-- Events with their runs; what they say is joined last, so that it is not sorted along.
event_in_run as (
  select
    e.event_id, e.occurred_at, e.agent_id, coalesce(e.run_id, r.run_id) as run_id, coalesce(p.seq, e.seq) as seq,
    e.position
  from dag_events e
  left join stated_run r on r.event_id = e.event_id
  left join stated_place p on p.event_id = e.event_id and p.run_id = coalesce(e.run_id, r.run_id)
),
-- Agents that the events of a run name.
run_agent as (
  select run_id, min(agent_id) as agent_id from event_in_run where run_id is not null group by run_id
),
-- Events with their agents, and whether all of the run have a number. One without a time has that of the one before.
event_of_agent as (
  select
    *,
    count(*) over (partition by agent_id, run_id) = count(seq) over (partition by agent_id, run_id) as is_sequenced,
    coalesce(
      occurred_at,
      max(occurred_at) over (partition by agent_id, run_id order by position, event_id rows unbounded preceding)
    ) as clock
  from (
    select
      e.event_id, e.occurred_at, coalesce(e.agent_id, a.agent_id, s.agent_id) as agent_id, e.run_id, e.seq, e.position
    from event_in_run e
    left join run_agent a on a.run_id = e.run_id
    left join stated_agent s on s.run_id = e.run_id
  )
),
-- Events with their places.
placed_event as (
  select
    event_id, agent_id, run_id, seq,
    case
      when run_id is not null
        then row_number() over (
          partition by agent_id, run_id
          order by
            case when is_sequenced then seq end nulls first, clock nulls first, seq nulls last, position nulls last,
            event_id
        )
    end as place
  from event_of_agent
)
select
  e.event_id, e.claimed_event_id, e.kind, e.occurred_at, p.agent_id, p.run_id, p.seq, p.place,
  e.position, e.correlation_id, e.payload_json
from dag_events e
join placed_event p on p.event_id = e.event_id
