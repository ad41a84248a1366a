-- title: Kinds of agents
-- question: Which kinds of agents were started, and how often?
-- why: Each kind has tools and rules of its own, and one that is started often deserves narrow ones.
-- grain: kind of agent
-- params: filters
-- column agent: VARCHAR; the kind of agent, as the calls that start it name it; unknown where none does
-- column starts: BIGINT; calls that start one
-- column ran: BIGINT; of these, calls that ran
-- column failed: BIGINT; calls that failed
-- column denied: BIGINT; calls that were denied
-- column subagents: BIGINT; sessions of such subagents that called a tool
-- column calls: BIGINT; calls that they made
-- column writes: BIGINT; of these, calls that write
-- column commands: BIGINT; calls that run commands
-- column denied_calls: BIGINT; calls of theirs that were denied
-- column first_called_at: BIGINT; the first start or call, in Unix ms
-- column last_called_at: BIGINT; the last start or call, in Unix ms
-- shown: agent, starts, ran, denied, failed, calls, writes, commands
-- empty: No agent was started by another.
-- next: `aix query subagent_escalation` shows which did what their parent could not
with agent_call as (
  select
    call_id,
    case when kind = 'agent' then coalesce(nullif(target, ''), 'unknown') end as started,
    case when is_subagent then coalesce(nullif(agent_type, ''), 'unknown') end as maker,
    class, outcome, is_denied, session_label, called_at
  from v_counted_targets
  where number = 0 and (kind = 'agent' or is_subagent)
),
agent_event as (
  select
    started as agent, call_id, true as is_start, class, outcome, is_denied,
    cast(null as varchar) as session_label, called_at
  from agent_call
  where started is not null
  union all
  select maker, call_id, false, class, outcome, is_denied, session_label, called_at
  from agent_call
  where maker is not null
)
select
  agent,
  count(case when is_start then 1 end) as starts,
  count(case when is_start and outcome = 'ran' then 1 end) as ran,
  count(case when is_start and outcome = 'failed' then 1 end) as failed,
  count(case when is_start and is_denied then 1 end) as denied,
  count(distinct session_label) as subagents,
  count(case when not is_start then 1 end) as calls,
  count(case when not is_start and class = 'write' then 1 end) as writes,
  count(case when not is_start and class = 'exec' then 1 end) as commands,
  count(case when not is_start and is_denied then 1 end) as denied_calls,
  min(called_at) as first_called_at,
  max(called_at) as last_called_at
from agent_event
group by agent
order by count(case when is_start then 1 end) desc, count(*) desc, agent
