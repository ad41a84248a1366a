-- title: The local day of each quarter of an hour with requests
-- question: To which day of the time zone does a quarter of an hour belong?
-- why: A day of any time zone is made of whole quarters of an hour, so only these few need a calendar, and no request does.
-- grain: quarter of an hour
-- param timezone: text = UTC; the time zone whose days are meant
-- column quarter_hour: BIGINT; quarters of an hour since 1970
-- column day: DATE; the local day
-- caveat: Quarters that no calendar has are left out.
-- references: docs/economics.md#one-turn-one-owner; the day of a request
select
  quarter_hour,
  cast(
    epoch_ms(quarter_hour * 900000) at time zone 'UTC' at time zone coalesce(getvariable('timezone'), 'UTC') as date
  ) as day
from (select distinct quarter_hour from v_requests where quarter_hour between -69039552 and 281558015) quarter
