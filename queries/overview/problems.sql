-- title: Problems of imports
-- question: Which lines could not be fully read, and why?
-- why: What was left out of the ledger is missing from every answer it gives.
-- grain: problem
-- column source: VARCHAR; the source: its path, and its key inside a container
-- column path: VARCHAR; the file; NULL where the source is not known any more
-- column importer: VARCHAR; the importer that read it
-- column line: BIGINT; the line, in files that have lines
-- column byte_offset: BIGINT; where the piece starts in the file
-- column kind: VARCHAR; what kind of problem it is
-- column reason: VARCHAR; what is wrong, in a sentence
-- column sample: VARCHAR; the beginning of the line
-- column run_id: VARCHAR; the run that met it
-- column run_started_at: BIGINT; when that run began, in Unix ms
-- column is_latest: BOOLEAN; whether that run was the last to read the source
-- shown: kind, reason, path, line, importer, source
-- empty: Every record could be read.
-- next: `aix problems` sums them up
-- caveat: A source that was read again without trouble has no problem of its latest run, whatever earlier runs met.
select
  p.source_key as source,
  s.path,
  s.importer,
  p.line,
  p.byte_offset,
  p.kind,
  p.reason,
  p.sample,
  p.run_id,
  r.started_at as run_started_at,
  coalesce(s.last_run_id = p.run_id, true) as is_latest
from import_problems p
left join import_sources s on s.source_key = p.source_key
left join import_runs r on r.id = p.run_id
order by p.source_key, r.started_at, p.run_id, p.seq
