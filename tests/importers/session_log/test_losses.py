"""Every line of a session log gives a row, or a problem names it."""

import pytest

from aix_importers.session_log import SessionLogImporter
from benchmarks.record_balance import balance, sources_in
from tests import ROOT

FIXTURES = ROOT / "fixtures" / "session_log"


@pytest.mark.parametrize("name", sorted(folder.name for folder in FIXTURES.iterdir() if folder.is_dir()))
def test_every_line_of_the_golden_cases_is_accounted_for(name: str) -> None:
    importer = SessionLogImporter({})
    found = balance(importer, sources_in(importer, FIXTURES / name / "input"))
    assert found.unaccounted == []
    assert found.fates
