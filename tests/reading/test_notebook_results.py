"""Results in notebooks: as tables, as plots, and by the magics of IPython."""

from collections.abc import Iterator

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.axes import Axes

import aix
from aix.errors import AixError, UsageError
from aix.reading.ledger import Ledger
from aix.reading.plot import COLOURS, KINDS
from aix.reading.result import Result
from tests import ROOT

ROWS = "select * from (values ('a', 'x', 2.5), ('b', 'x', 1), ('a', 'y', 1), (null, 'y', 9), ('c', null, 4)) t(k, c, n)"


@pytest.fixture(scope="module")
def ledger() -> Iterator[Ledger]:
    with aix.open(ROOT / "fixtures" / "ledgers" / "schema_4") as opened:
        yield opened


@pytest.fixture
def shell(ledger: Ledger) -> InteractiveShell:
    made = InteractiveShell()  # type: ignore[no-untyped-call]
    made.run_line_magic("load_ext", "aix.jupyter")
    made.user_ns["ledger"] = ledger
    return made


def legend(axes: Axes) -> list[str]:
    drawn = axes.get_legend()
    assert drawn is not None
    return [text.get_text() for text in drawn.get_texts()]


def run_cell(shell: InteractiveShell, line: str, cell: str) -> Result:
    result: Result = shell.run_cell_magic("aix", line, cell)  # type: ignore[no-untyped-call]
    return result


def test_a_result_shows_its_first_rows_escaped(ledger: Ledger) -> None:
    html = ledger.sql("select '<b>' || range as name, range from range(30)")._repr_html_()
    assert html.count("<tr>") == 1 + 25
    assert "&lt;b&gt;24</td>" in html
    assert "<b>" not in html
    assert "the first 25 rows" in html
    assert '<td class="number">7</td>' in html
    assert "the first" not in ledger.sql("select 1 as one")._repr_html_()


def test_bars_of_a_colour_stand_on_those_before(ledger: Ledger) -> None:
    axes = ledger.sql(ROWS).plot("bars", "k", "n", color="c")
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
    floors = [[bar.get_y() for bar in bars] for bars in axes.containers]
    names = legend(axes)
    assert dict(zip(names, heights, strict=True)) == {"unknown": [0, 0, 4], "x": [2.5, 1, 0], "y": [1, 0, 0]}
    assert floors[0] == [0, 0, 0]
    assert floors[names.index("y")] == [2.5, 1, 4]


def test_a_ranking_adds_up_and_begins_with_the_largest(ledger: Ledger) -> None:
    axes = ledger.sql(ROWS).plot("ranking", "n", "k")
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[::-1] == ["c", "a", "b"]
    assert [bar.get_width() for bar in axes.containers[0]][::-1] == [4, 3.5, 1]


def test_lines_and_points_leave_out_what_is_unknown(ledger: Ledger) -> None:
    result = ledger.sql("select * from (values (3, 1), (1, 2), (2, null)) t(x, y)")
    [line] = result.plot("line", "x", "y").get_lines()
    assert np.asarray(line.get_xdata()).tolist() == [1, 3]
    [points] = result.plot("points", "x", "y").collections
    assert np.asarray(points.get_offsets()).tolist() == [[3, 1], [1, 2]]


def test_many_colours_end_in_one_for_the_others(ledger: Ledger) -> None:
    rows = ledger.sql("select 'a' as k, cast(range as varchar) as c, range + 1 as n from range(20)")
    axes = rows.plot("bars", "k", "n", color="c")
    names = legend(axes)
    assert names[-1] == "others"
    assert len(names) == len(COLOURS)
    assert sum(bar.get_height() for bars in axes.containers for bar in bars) == 210


def test_a_group_that_is_named_others_is_not_lost(ledger: Ledger) -> None:
    rows = "select 'others' as c, 'a' as k, 100 as n union all select 'c' || range, 'a', 1 from range(9)"
    axes = ledger.sql(rows).plot("bars", "k", "n", color="c")
    assert sum(bar.get_height() for bars in axes.containers for bar in bars) == 109


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bars", "no", "n"), "there is no column named 'no'"),
        (("pie", "k", "n"), "there is no kind of plot named 'pie'"),
        (("bars", "n", "k"), "'a' is not a number"),
    ],
)
def test_what_cannot_be_drawn_says_why(ledger: Ledger, arguments: tuple[str, str, str], message: str) -> None:
    with pytest.raises(AixError, match=message):
        ledger.sql(ROWS).plot(*arguments)  # type: ignore[arg-type]
    assert len(KINDS) == 4


def test_the_magics_run_queries_and_sql(shell: InteractiveShell, ledger: Ledger) -> None:
    asked = shell.run_line_magic("aix", "overview/table_rows")
    assert asked.rows() == ledger.query("overview/table_rows").rows()
    assert run_cell(shell, "", "select 1 as one").rows() == [(1,)]
    run_cell(shell, "kept", "select 2 as two")
    assert shell.user_ns["kept"].rows() == [(2,)]
    narrowed = shell.run_line_magic("aix", "token_economics/cost_by_model since=2036-01-01")
    assert narrowed.rows() == []


@pytest.mark.parametrize(("line", "message"), [("", "name a query"), ("overview/table_rows x", "NAME=VALUE")])
def test_a_magic_that_cannot_be_meant_says_so(shell: InteractiveShell, line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shell.run_line_magic("aix", line)


def test_a_variable_must_have_a_name_that_python_knows(shell: InteractiveShell) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        run_cell(shell, "two words", "select 1")
