-- title: Resources that cannot be restored are not restored, and one branch keeps them
-- question: Which restores claim what is not possible, and which forks let several branches keep one resource?
-- why: An agent that believes such a restore, or shares such a resource, works on a state that it does not have.
-- grain: event
-- invariant: G5
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: A resource cannot be restored when it says `imperative`, when its `restorable` is false, or when its capabilities lack `restore`.
-- rows: only with dag_events

select 'dag_events' as table_name, event_id as row_id,
  'It restores ' || left(resource_id, 100) || ', which cannot be restored, and its outcome is '
    || coalesce(left(outcome, 100), 'not known') || ', not unsupported.' as reason
from v_dag_restores
where is_imperative and coalesce(outcome, '') <> 'unsupported'
union all
select 'dag_events', max(event_id),
  cast(branches as varchar) || ' branches of its fork keep ' || left(resource_id, 100) || ', which cannot be restored.'
from v_dag_fork_plans
where mode = 'keep' and is_imperative and branches > 1
group by agent_id, fork_id, resource_id, branches
order by row_id, reason
