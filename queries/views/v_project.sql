-- title: The project of each turn
-- question: In which project did a turn work?
-- why: Work in a sub folder or in a worktree below the repository belongs to the repository's project.
-- grain: turn
-- column turn_id: VARCHAR; the turn
-- column project: VARCHAR; root folder of the repository as far as the logs show it, else the workspace
-- caveat: A folder counts as a repository when a log names a branch in it; the outermost such folder is the root.
with workspace as (
  select distinct workspace_path from turns where workspace_path is not null
),
repository as (
  select distinct t.workspace_path
  from turns t
  join turn_context c on c.turn_id = t.id
  where t.workspace_path is not null and c.git_branch <> ''
),
root as (
  select w.workspace_path, min_by(r.workspace_path, length(r.workspace_path)) as project
  from workspace w
  cross join repository r
  where w.workspace_path = r.workspace_path
    or left(w.workspace_path, length(r.workspace_path) + 1) in (r.workspace_path || '/', r.workspace_path || '\')
  group by w.workspace_path
)
select t.id as turn_id, coalesce(r.project, t.workspace_path) as project
from turns t
left join root r on r.workspace_path = t.workspace_path
