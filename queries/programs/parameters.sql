-- title: Situations and inference parameters
-- question: With which parameters were requests made?
-- why: Shows which situations are used, and what each of them changes.
-- grain: model_program_id, situation, parameter, value and basis
-- params: filters
-- column model_program_id: VARCHAR; the model program; NULL where a request states its parameters itself
-- column situation: VARCHAR; the situation in force; NULL where none was named
-- column parameter: VARCHAR; the parameter
-- column value: VARCHAR; its value
-- column basis: VARCHAR; the setting it comes from: request, situation or default
-- column default_value: VARCHAR; the value that the model has without a situation
-- column requests: BIGINT; requests made so
-- column first_requested_at: BIGINT; the first of them, in Unix ms
-- column last_requested_at: BIGINT; the last of them, in Unix ms
-- column cost_usd: DECIMAL(38,12); list price of these requests; NULL when nothing of it is priced
-- shown: model_program_id, situation, parameter, value, basis, requests, cost_usd, default_value
-- empty: No parameters are known; they are in programs of the type model.
-- next: `aix cost --by situation` shows what each situation cost
-- caveat: A request has a row for each of its parameters, so the costs do not add up.
-- rows: only with programs, program_events, dag_events
select
  p.model_program_id, p.situation, p.parameter, p.value, p.basis,
  max(p.default_value) as default_value,
  count(*) as requests,
  min(r.requested_at) as first_requested_at,
  max(r.requested_at) as last_requested_at,
  sum(r.cost_usd) as cost_usd
from v_counted_requests r
join v_request_parameters p on p.request_id = r.request_id
group by p.model_program_id, p.situation, p.parameter, p.value, p.basis
order by p.model_program_id nulls last, p.situation nulls first, p.parameter, p.basis, p.value
