-- title: The project of each workspace
-- question: To which project does a folder belong?
-- why: Work in a sub folder or in a worktree below the repository belongs to the repository's project.
-- grain: folder within a repository
-- column workspace_path: VARCHAR; the folder
-- column project: VARCHAR; the root of the repository
-- caveat: A folder counts as a repository when a log names a branch in it; the outermost such folder is the root.
-- references: docs/economics.md#one-turn-one-owner; the project of a turn
with workspace as (
  select workspace_path from v_session_folders group by workspace_path
),
repository as (
  select workspace_path from v_session_folders where is_repository group by workspace_path
)
select w.workspace_path, min_by(r.workspace_path, length(r.workspace_path)) as project
from workspace w
cross join repository r
where w.workspace_path = r.workspace_path
  or left(w.workspace_path, length(r.workspace_path) + 1) in (r.workspace_path || '/', r.workspace_path || '\')
group by w.workspace_path
