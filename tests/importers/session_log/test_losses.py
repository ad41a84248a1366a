"""Every line of a session log gives a row, or a problem names it."""

import pytest

from aix_importers.session_log import SessionLogImporter
from benchmarks.record_balance import balance, sources_in
from tests import ROOT

FIXTURES = ROOT / "fixtures" / "session_log"
WITHOUT_LOGS = ("bad_programs", "program_events", "program_events_in_other_spellings")
"""Situations of programs alone; `test_program_events.py` accounts for their lines."""


@pytest.mark.parametrize("name", sorted({path.name for path in FIXTURES.iterdir()} - set(WITHOUT_LOGS)))
def test_every_line_of_the_golden_cases_is_accounted_for(name: str) -> None:
    importer = SessionLogImporter({})
    found = balance(importer, sources_in(importer, FIXTURES / name / "input"))
    assert found.unaccounted == []
    assert found.fates
