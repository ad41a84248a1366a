-- title: Where settings hold
-- question: In which folders that calls were made in does each settings file hold?
-- why: A rule is unused only where it could have been used, and nothing is known where no rule holds.
-- grain: settings file and folder
-- column origin: VARCHAR; whose settings they are
-- column scope: VARCHAR; whose they are within that
-- column file: VARCHAR; the settings file
-- column cwd: VARCHAR; a folder in which calls were made
-- column allow_rules: BIGINT; allow rules of the file
-- caveat: Settings of a user hold also in folders of which no home can be told.
-- references: docs/permissions.md#which-are-in-force; where a rule holds
with settings_file as (
  select origin, scope, file, folder, count(case when kind = 'allow' then 1 end) as allow_rules
  from v_rules
  group by origin, scope, file, folder
),
call_place as (
  select origin, cwd, replace(cwd, '\', '/') as path
  from call_targets
  where cwd is not null
  group by origin, cwd
)
select s.origin, s.scope, s.file, p.cwd, s.allow_rules
from settings_file s
join call_place p on p.origin = s.origin
where s.folder is null
  or p.path = s.folder
  or left(p.path, length(s.folder) + 1) = s.folder || '/'
  or (s.scope = 'user' and not regexp_matches(p.path, '^(/mnt/[a-z]|[A-Za-z]:|/var)?/(home/|Users/|root(/|$))'))
