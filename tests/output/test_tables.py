"""Tables on a terminal: one line for each row at any width, with the columns that matter most."""

import io

import pytest
from rich.cells import cell_len
from rich.text import Text

from aix.output import Listing, ListingColumn, listing_columns
from aix.output.tables import record_lines, write_to_terminal

COLUMNS = listing_columns(
    ListingColumn("project", cut="start"),
    "title",
    ("cost", "DECIMAL(38,12)"),
    ListingColumn("cache_read_tokens", "BIGINT", priority=2),
    ListingColumn("share", "DOUBLE", priority=3),
    ("turns", "BIGINT"),
)
ROWS = [
    (
        "/home/ada/work/clients/agents/athena",
        "Make the\nimport of 日本語 texts faster, then measure",
        "$12.50",
        120,
        0.5,
        3,
    ),
    ("athena", None, None, None, None, 1),
]


def drawn(monkeypatch: pytest.MonkeyPatch, width: int, listing: Listing, *, colours: bool = False) -> list[str]:
    """Draw a listing on a terminal of that width."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "" if colours else "1")
    stream = io.StringIO()
    write_to_terminal(listing, stream)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", range(40, 160, 7))
def test_each_row_has_one_line_that_fits(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    lines = drawn(monkeypatch, width, Listing(COLUMNS, ROWS))
    assert max(map(cell_len, lines)) <= width
    header, rows = lines[:-2], lines[-2:]
    assert all(word in " ".join(header) for word in ("project", "title", "cost"))
    assert rows[0].split()[0].endswith("athena")
    assert rows[1].startswith("athena ")


@pytest.mark.parametrize(
    ("width", "names"), [(120, ["turns", "tokens", "share"]), (54, ["turns", "tokens"]), (45, ["turns"]), (38, [])]
)
def test_columns_of_the_greatest_number_go_first(monkeypatch: pytest.MonkeyPatch, width: int, names: list[str]) -> None:
    header = " ".join(drawn(monkeypatch, width, Listing(COLUMNS, ROWS))[:3])
    assert [name for name in ("turns", "tokens", "share") if name in header] == names


def test_columns_without_room_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "48")
    assert write_to_terminal(Listing(COLUMNS, ROWS), io.StringIO()) == ["cache_read_tokens", "share"]


def test_unknown_values_are_a_dash_and_texts_are_shortened_by_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = drawn(monkeypatch, 48, Listing(COLUMNS, ROWS))[-2:]
    assert first.startswith("…/agents/athena ")
    assert "Make the impor…" in first
    assert second.split() == ["athena", "–", "–", "1"]


def test_colours_follow_severity_and_cost_and_change_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = listing_columns(
        ListingColumn("severity", tone="severity"), "title", ListingColumn("cost", "DOUBLE", tone="cost")
    )
    rows = [("high", "a", "≥$1,200.00"), ("medium", "b", "$2.00"), ("low", "c", None), ("total", "", "$1,202.00")]
    plain = drawn(monkeypatch, 80, Listing(columns, rows))
    coloured = drawn(monkeypatch, 80, Listing(columns, rows), colours=True)
    assert [Text.from_ansi(line).plain.rstrip() for line in coloured] == plain
    assert "\x1b[1;31mhigh" in coloured[1]
    assert "\x1b[38;5;166m≥$1,200.00" in coloured[1]
    assert "\x1b[38;5;166mmedium" in coloured[2]
    assert "\x1b[33m" not in coloured[2].split("medium")[1]
    assert "\x1b[2mlow" in coloured[3]
    assert not any("\x1b" in line for line in plain)


def test_records_show_every_column_and_whole_texts() -> None:
    lines = list(record_lines(Listing(COLUMNS, ROWS), 60))
    assert lines[0] == "── 1 ──"
    assert "".join(" ".join(lines).split()).count("thenmeasure") == 1
    assert [line.split()[0] for line in lines if line.startswith("share")] == ["share", "share"]
    assert max(map(len, lines)) <= 60


def test_paths_keep_their_ends_without_being_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("/home/ada/logs/one/of/many/files/first.jsonl", 1), (r"C:\Users\ada\logs\one\of\many\second.jsonl", 2)]
    lines = drawn(monkeypatch, 25, Listing(listing_columns("source", ("line", "BIGINT")), rows))
    assert lines[1:] == ["…/files/first.jsonl     1", "…\\many\\second.jsonl     2"]


def test_commands_in_a_column_with_paths_keep_their_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("rm -rf /srv/tides/cache and more", "a" * 30), ("/srv/tides/charts/cache/index.html", "a" * 30)]
    lines = drawn(monkeypatch, 50, Listing(listing_columns("target", "tool"), rows))
    assert lines[1].startswith("rm -rf /srv/tides")
    assert lines[2].startswith("…")
    assert "/index.html" in lines[2]


def test_columns_without_a_known_value_leave_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(*row[:5], None) for row in ROWS[:1]]
    wide, narrow = (" ".join(drawn(monkeypatch, width, Listing(COLUMNS, rows))[:-1]) for width in (120, 50))
    assert all(name in wide for name in ("share", "turns"))
    assert "share" in narrow
    assert "turns" not in narrow


def test_paths_that_would_look_alike_show_where_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    end = "cmd/strategy/manual_commit_condensation.go"
    files = [*(f"/srv/clients/kettle/{tree}/{end}" for tree in ("one", "two")), f"C:\\x/{end}".replace("/", "\\"), None]
    rows = [("7F3KQ2MX" * 4, each) for each in files]
    lines = drawn(monkeypatch, 54, Listing(listing_columns("turn", ListingColumn("file", cut="start")), rows))
    assert [line.split()[-1] for line in lines[1:]] == ["…/kettle/one/…", "…/kettle/two/…", "C:\\x\\…", "–"]
    assert drawn(monkeypatch, 140, Listing(listing_columns("file"), [(each,) for each in files]))[1:] == [
        *files[:3],
        "–",
    ]
