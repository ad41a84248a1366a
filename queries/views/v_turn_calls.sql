-- title: The calls of each turn
-- question: How many calls does a turn make, and of how many are parameters, results and errors known?
-- why: Results are by far the longest texts; to see that they are there takes longer than all else that is asked of calls.
-- grain: turn with calls
-- column turn_id: VARCHAR; the turn
-- column calls: BIGINT; its calls
-- column with_params: BIGINT; calls whose parameters are known
-- column with_result: BIGINT; calls whose result is known
-- column with_error: BIGINT; calls with an error
-- kept: by family with tool_calls
select
  turn_id,
  count(*) as calls,
  count(params_json) as with_params,
  count(result_json) as with_result,
  count(error) as with_error
from tool_calls
group by turn_id
