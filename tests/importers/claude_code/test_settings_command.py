"""Settings files that are named on the command line."""

import json
from pathlib import Path

import aix
from aix.store.raw_copies import kept_digests
from tests.support.command_line import run_in_process


def test_rules_of_a_settings_file_that_is_named_are_kept_and_nothing_else_of_it(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash(rm:*)"]}, "env": {"TOKEN": "not-to-be-kept"}}))
    ledger = tmp_path / "ledger"
    run_in_process("import", "--settings", str(settings), "--ledger", str(ledger))
    with aix.open(ledger) as opened:
        assert opened.sql("select scope, kind, rule from permission_rules").rows() == [("user", "deny", "Bash(rm:*)")]
    held = b"".join(path.read_bytes() for path in ledger.rglob("*") if path.is_file())
    assert b"not-to-be-kept" not in held


def test_no_copy_of_settings_is_kept(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash(rm:*)"]}, "env": {"TOKEN": "not-to-be-kept"}}))
    run_in_process("import", "--settings", str(settings), "--keep-raw", "--ledger", str(tmp_path / "ledger"))
    assert list(kept_digests(tmp_path / "ledger")) == []
