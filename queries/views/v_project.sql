-- title: The project of each turn
-- question: In which project did a turn work?
-- why: Work in a sub folder or in a worktree below the repository belongs to the repository's project.
-- grain: turn
-- column turn_id: VARCHAR; the turn
-- column project: VARCHAR; root folder of the repository as far as the logs show it, else the workspace
-- caveat: A folder counts as a repository when a log names a branch in it; the outermost such folder is the root.
select t.id as turn_id, coalesce(w.project, t.workspace_path) as project
from turns t
left join v_workspaces w on w.workspace_path = t.workspace_path
