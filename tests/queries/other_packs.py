"""Packs of other distributions, as pip would install them into a folder."""

from pathlib import Path

from tests.queries.ledger import FIXTURES

TURNS_BY_DAY = """\
-- title: Turns by day
-- question: How many turns began on each day?
-- why: Shows when work was done.
-- grain: day
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param status: text = completed; how they ended, one of completed, failed, active
-- param least: integer = 1; days with fewer turns are left out
-- param timezone: text = UTC; zone in which days begin
-- column day: VARCHAR; the day
-- column first_started_at: BIGINT; start of its first turn, in Unix ms
-- column turns: BIGINT; turns that began on it
-- column output_tokens: BIGINT; their output
-- column turn_share: DOUBLE; its part of all turns that are counted
-- column spent_usd: DECIMAL(38,12); made up
-- caveat: A turn counts for the day on which it began.
select
  cast(cast(timezone(coalesce(getvariable('timezone'), 'UTC'), to_timestamp(started_at / 1000)) as date) as varchar)
    as day,
  min(started_at) as first_started_at,
  count(*) as turns,
  cast(sum(output_tokens) as bigint) as output_tokens,
  count(*) / sum(count(*)) over () as turn_share,
  cast(count(*) * 0.001 as decimal(38, 12)) as spent_usd
from turns
where (getvariable('since') is null or started_at >= getvariable('since'))
  and (getvariable('until') is null or started_at < getvariable('until'))
  and status = coalesce(getvariable('status'), 'completed')
group by day
having count(*) >= coalesce(getvariable('least'), 1)
order by day;
"""
SAMPLE = FIXTURES / "sample"


def install(folder: Path, distribution: str, pack: str, files: dict[str, str], *, module: str | None = None) -> None:
    """Put a distribution with these SQL files into a folder of the search path."""
    package = distribution.replace("-", "_")
    for name, sql in files.items():
        path = folder / package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sql, "utf-8")
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[aix.queries]\n{pack} = {module or package}\n")
