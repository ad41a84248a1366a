"""Files that describe reports: each that comes with AIX can be read, and a wrong one is refused in plain words."""

import shlex
import tomllib
from pathlib import Path

import click
import pytest

from aix.cli.root import aix as root_command
from aix.errors import ReportDefinitionError, UsageError
from aix.query.packs import find_query, own_query_names
from aix.reports.definition import FINDINGS, read_definition
from aix.reports.library import find_report, own_folder, report_files, write_template

SECTION = '[[sections]]\ntitle = "Cost"\nquery = "token_economics/cost_cells"\n'
WRONG = {
    "this is not TOML": "title = ",
    "there is no setting 'titel'; did you mean title?": 'titel = "x"\n',
    "it has neither figures nor sections": 'title = "x"\n',
    "sections[0].limit must be a number, not text": f'title = "x"\n{SECTION}limit = "ten"\n',
    "section 'Cost': there is no column 'modle' there; use model": f'title = "x"\n{SECTION}columns = ["modle"]\n',
    "section 'Cost': `add`, `count` and `shares` need `group`": f'title = "x"\n{SECTION}add = ["cost_usd"]\n',
    "section 'Cost': token_economics/cost_cells has no parameter 'by'": (
        f'title = "x"\n{SECTION}parameters = {{ by = "day" }}\n'
    ),
    "section 'Cost': a chart of the kind 'heat' needs `color`": (
        f'title = "x"\n{SECTION}chart = {{ kind = "heat", x = "day", y = "model" }}\n'
    ),
    "section 'Cost': there is no column 'requests' there; use": (
        f'title = "x"\n{SECTION}group = ["day"]\nadd = ["cost_usd"]\norder = "-requests"\n'
    ),
    "section 'Cost': 'project' is not a column of numbers, and cannot be added up": (
        f'title = "x"\n{SECTION}group = ["day"]\nadd = ["project"]\n'
    ),
    "section 'Cost': the column 'cost_usd' is named twice": (
        f'title = "x"\n{SECTION}group = ["day"]\nadd = ["cost_usd"]\ncount = "cost_usd"\n'
    ),
    "section 'Cost': a calendar needs a column of days as `x`": (
        f'title = "x"\n{SECTION}chart = {{ kind = "calendar", x = "model", y = "cost_usd" }}\n'
    ),
    "section 'Cost': 'project' is not a column of numbers, as this chart needs there": (
        f'title = "x"\n{SECTION}chart = {{ kind = "bars", x = "model", y = "project" }}\n'
    ),
    "figure 'Sum': there is no query named 'cost_cell'": (
        'title = "x"\n[[figures]]\nlabel = "Sum"\nquery = "cost_cell"\nadd = "cost_usd"\n'
    ),
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_cannot_be_meant_is_refused_in_plain_words(tmp_path: Path, problem: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(WRONG[problem])
    with pytest.raises(ReportDefinitionError) as caught:
        read_definition(path)
    assert f"{path}: {problem}" in str(caught.value)
    assert "docs/reports.md" in caught.value.remedy


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = " + b"[" * 100_000, b"#" * (2**20 + 1)])
def test_hostile_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(ReportDefinitionError):
        read_definition(path)


@pytest.mark.parametrize("name", sorted(report_files()))
def test_every_report_names_queries_in_full(name: str) -> None:
    """Names of packs of others cannot change what a report of AIX shows."""
    written = tomllib.loads(report_files()[name].read_text("utf-8"))
    named = {each["query"] for each in (*written.get("figures", ()), *written.get("sections", ()))}
    assert named <= {*own_query_names(), FINDINGS.name}


def test_the_template_is_a_report_that_can_be_read(empty_home: Path) -> None:
    path = write_template("our-models")
    assert path.is_relative_to(empty_home)
    assert find_report("our-models").title == "Our models"
    with pytest.raises(UsageError, match="already"):
        write_template("our-models")


@pytest.mark.parametrize(
    "name", ["", "../up", ".hidden", "a/b", "-x", "line\nbreak", "overview", "a.toml", "two words", "a;b"]
)
def test_a_report_cannot_have_a_name_that_is_no_file_or_is_taken(name: str) -> None:
    with pytest.raises(UsageError):
        write_template(name)
    assert not own_folder().exists()


def test_a_report_of_the_user_goes_before_one_of_the_same_name() -> None:
    own_folder().mkdir(parents=True)
    (own_folder() / "overview.toml").write_text(f'title = "Mine"\n{SECTION}')
    assert find_report("overview").title == "Mine"


NEXT_STEPS = sorted({figure.next for name in report_files() for figure in find_report(name).figures if figure.next})


@pytest.mark.parametrize("step", NEXT_STEPS)
def test_every_next_step_is_a_command_that_there_is(step: str) -> None:
    program, *words = shlex.split(step)
    assert program == "aix"
    command: click.Command = root_command
    with click.Context(root_command) as context:
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            found = command.get_command(context, words.pop(0))
            assert found is not None, step
            command = found
    options = {option for each in command.params for option in each.opts}
    assert {word for word in words if word.startswith("-")} <= options
    if step.startswith("aix query "):
        find_query(words[0])  # which raises where there is none
