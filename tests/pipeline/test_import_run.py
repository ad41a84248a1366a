"""The import run, with importers of another distribution: what becomes of sources, whatever importers do."""

import ctypes
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from aix.health import Status, check
from aix.pipeline.registry import GROUP
from aix.pipeline.report import Status as ImportStatus
from aix.pipeline.run import Settings, import_histories
from aix.store.manifest import is_ledger, read_latest
from aix.store.raw_copies import kept_digests
from tests.support.command_line import run_on_terminal
from tests.support.plugin_env import PLUGIN, Plugged, plug_in
from tests.support.row_batches import dump, facts, rows_of

pytestmark = pytest.mark.faults

LINES = "".join(f"line {number} {'x' * 60_000}\n" for number in range(100))


@pytest.fixture(scope="module")
def aix(tmp_path_factory: pytest.TempPathFactory) -> Plugged:
    return plug_in(tmp_path_factory.mktemp("plugged"))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.note").write_text(f"note\nfirst of {name}\nsecond of {name}\n")
    return folder


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def prompts(ledger: Path) -> set[object]:
    return {row["content"] for row in rows_of(ledger, "messages")}


def sources(counts: dict[tuple[str, str], int]) -> dict[str, int]:
    return {name: number for (what, name), number in counts.items() if what == "sources"}


def test_installed_importers_are_listed_with_what_they_find(aix: Plugged) -> None:
    rows = {row["importer"]: row for row in json.loads(aix.run("importers", "--json").stdout)}
    assert rows["notes"]["distribution"] == "aix-notes"
    assert (rows["notes"]["files"], rows["notes"]["usage"]) == ("no", "not applicable")
    options = json.loads(aix.run("importers", "notes", "--json").stdout)
    assert options == [{"option": "notes.shout", "description": "Whether prompts are written in capitals: yes or no."}]
    wrong = aix.run("importers", "note")
    assert (wrong.returncode, "did you mean notes" in wrong.stderr) == (2, True)


def test_what_has_not_changed_is_skipped_and_what_has_grown_is_upserted(aix: Plugged, logs: Path, ledger: Path) -> None:
    assert sources(aix.counts(logs, "--ledger", ledger)) == {"imported": 3}
    rows = dump(ledger)
    assert aix.counts(logs, "--ledger", ledger) == {("sources", "skipped"): 3, ("version", "of the ledger"): 1}
    for path in logs.iterdir():
        os.utime(path, (1, 1))
    for _ in range(2):
        assert aix.counts(logs, "--ledger", ledger) == {("sources", "skipped"): 3, ("version", "of the ledger"): 1}
    assert dump(ledger) == rows
    with (logs / "a.note").open("a") as file:
        file.write("third of a\n")
    grown = aix.counts(logs, "--ledger", ledger)
    assert sources(grown) == {"skipped": 2, "upserted": 1}
    assert grown["new rows", "turns"] == 1
    [run] = [row for row in rows_of(ledger, "import_log") if row["status"] == "upserted"]
    assert (run["session_label"], str(run["source_key"])) == ("notes:a", str(logs / "a.note"))


def test_one_job_gives_what_two_give_and_another_ledger_the_same(aix: Plugged, logs: Path, tmp_path: Path) -> None:
    for number in range(450):
        (logs / f"n{number}.note").write_text(f"note\nfirst of {number}\n")
    (logs / "large.note").write_text("note\n" + LINES)
    assert sources(aix.counts(logs, "--ledger", tmp_path / "one", "--jobs", "1")) == {"imported": 454}
    assert sources(aix.counts(logs, "--ledger", tmp_path / "elsewhere" / "two", "--jobs", "2")) == {"imported": 454}
    assert facts(tmp_path / "one") == facts(tmp_path / "elsewhere" / "two")


def test_two_claims_on_a_file_are_an_error_that_names_both(aix: Plugged, logs: Path, ledger: Path) -> None:
    (logs / "both.note").write_text("note\nwhose\n")
    process = aix.run("import", logs, "--ledger", ledger)
    assert process.returncode == 1
    assert f"{logs}/both.note: greedy and notes both claim it; choose one with --importer" in process.stderr
    assert sources(aix.counts(logs, "--ledger", ledger, code=1)) == {"skipped": 3}
    assert sources(aix.counts(logs, "--ledger", ledger, "--importer", "notes")) == {"skipped": 3, "imported": 1}


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (f"{LINES}raise", "the importer failed: RuntimeError: line cannot be read"),
        (f"{LINES}die", "a worker process died while it was read"),
        (f"{LINES}wrong", "rows for table tags break the schema: added_at: str is not BIGINT"),
        ("raise", "the importer failed: RuntimeError: line cannot be read"),
        ("die", "a worker process died while it was read"),
        ("wrong", "rows for table tags break the schema: added_at: str is not BIGINT"),
        ("bad mark", "rows for table inferred_values break the schema: turns.id cannot be inferred"),
        ("bad problem", "the importer failed: TypeError: it gave a problem that is none: Problem("),
        ("no fingerprint", "the importer failed: TypeError: its fingerprint is None, which is no text"),
        ("raise half", "the importer failed: RuntimeError: half a pair: \ufffd"),
    ],
    ids=lambda value: str(value)[-20:],
)
def test_a_source_that_fails_leaves_nothing_and_stops_no_other(
    aix: Plugged, logs: Path, ledger: Path, trouble: str, reason: str
) -> None:
    bad = logs / "b2.trouble"
    bad.write_text(f"note\nbegin\n{trouble}\nend\n")
    process = aix.run("import", logs, "--ledger", ledger, *(["--jobs", "2"] if trouble.endswith("die") else []))
    assert process.returncode == 1
    assert f"aix: {bad}: {reason}" in process.stderr
    assert process.stderr.splitlines()[-1] == "aix: 1 source could not be imported; all others were"
    assert prompts(ledger) == {f"{place} of {name}" for place in ("first", "second") for name in "abc"}
    [problem] = rows_of(ledger, "import_problems")
    assert (problem["source_key"], problem["kind"]) == (str(bad), "source_failed")
    assert str(problem["reason"]).startswith(reason)
    again = aix.counts(logs, "--ledger", ledger, code=1)
    assert again == {("sources", "failed"): 1, ("sources", "skipped"): 3, ("version", "of the ledger"): 1}
    [failed] = [
        row for row in json.loads(aix.run("sources", logs, "--ledger", ledger, "--json").stdout) if row["reason"]
    ]
    assert (failed["state"], failed["source"]) == ("failed before", str(bad))
    bad.write_text("note\nbegin\n")
    assert sources(aix.counts(logs, "--ledger", ledger)) == {"imported": 1, "skipped": 3}
    assert "begin" in prompts(ledger)


def test_a_worker_that_is_killed_costs_its_source_until_the_next_run(
    aix: Plugged, logs: Path, ledger: Path, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    (logs / "b2.trouble").write_text(f"note\nwait for {flag}\n")
    process = subprocess.Popen(
        aix.command("import", logs, "--ledger", ledger, "--jobs", "2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.kill(int(wait_for(Path(f"{flag}.waiting"))), signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"{logs}/b2.trouble: a worker process died while it was read" in said
    assert len(prompts(ledger)) == 6
    flag.touch()
    assert sources(aix.counts(logs, "--ledger", ledger)) == {"imported": 1, "skipped": 3}
    assert len(prompts(ledger)) == 7


def test_what_ends_the_run_that_reads_little_itself_is_given_to_a_worker_by_the_next(
    aix: Plugged, logs: Path, ledger: Path
) -> None:
    bad = logs / "b2.trouble"
    bad.write_text("note\nbegin\ndie\n")
    assert aix.run("import", logs, "--ledger", ledger).returncode == -signal.SIGKILL
    assert not is_ledger(ledger)
    assert sources(aix.counts(logs / "a.note", "--ledger", ledger)) == {"imported": 1}  # which leaves the mark alone
    process = aix.run("import", logs, "--ledger", ledger)
    assert (process.returncode, len(prompts(ledger))) == (1, 6)
    assert f"aix: {bad}: a worker process died while it was read" in process.stderr
    bad.write_text("note\nbegin\nmore\n")
    assert sources(aix.counts(logs, "--ledger", ledger)) == {"imported": 1, "skipped": 3}
    assert list((ledger / "staging").glob("*/reading.json")) == []


@pytest.mark.parametrize("jobs", [(), ("--jobs", "2")], ids=["little", "workers"])
def test_ctrl_c_leaves_the_version_before_and_no_process(
    aix: Plugged, logs: Path, ledger: Path, tmp_path: Path, jobs: tuple[str, ...]
) -> None:
    aix.counts(logs, "--ledger", ledger)
    before = dump(ledger)
    flag = tmp_path / "flag"
    (logs / "b2.trouble").write_text(f"note\nwait for {flag}\n")
    (logs / "d.note").write_text("note\nfirst of d\n")
    process = subprocess.Popen(
        aix.command("import", logs, "--ledger", ledger, *jobs),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    worker = int(wait_for(Path(f"{flag}.waiting")))
    os.killpg(process.pid, signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert (process.returncode, shown, said) == (130, "", "\naix: interrupted\n")
    assert dump(ledger) == before
    assert read_latest(ledger).version == 1
    assert list((ledger / "staging").iterdir()) == []
    assert not Path(f"/proc/{worker}").exists()


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + 30
    while not path.exists() or not path.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return path.read_text()


def test_an_importer_that_fails_to_look_stops_no_other(aix: Plugged, logs: Path, ledger: Path) -> None:
    (logs / "discovery.trouble").write_text("x")
    process = aix.run("import", logs, "--ledger", ledger)
    assert process.returncode == 1
    assert "importer troubled: it failed while it looked for its logs: RuntimeError: no way to look" in process.stderr
    assert len(prompts(ledger)) == 6


def test_importers_that_cannot_be_loaded_say_why(tmp_path: Path, logs: Path, ledger: Path) -> None:
    broken = tmp_path / "broken"
    (broken / "src" / "aix_broken").mkdir(parents=True)
    (broken / "src" / "aix_broken" / "__init__.py").write_text(
        "from aix.importing import Importer\nclass Half(Importer):\n    name = 'half'\n    version = '1'\n"
    )
    points = [
        'missing = "aix_broken.not_there:X"',
        'half = "aix_broken:Half"',
        'other = "os:path"',
        'notes = "aix_broken:Half"',
    ]
    project = (PLUGIN / "pyproject.toml").read_text().split("[project.entry-points")[0].replace("notes", "broken")
    tail = '\n[tool.hatch.build.targets.wheel]\npackages = ["src/aix_broken"]\n'
    (broken / "pyproject.toml").write_text(f'{project}[project.entry-points."{GROUP}"]\n' + "\n".join(points) + tail)
    aix = plug_in(tmp_path / "plugged", PLUGIN, broken)
    listed = aix.run("importers", "--json")
    reasons = {row["importer"]: row["description"] for row in json.loads(listed.stdout)}
    assert listed.returncode == 1
    assert reasons["missing"] == "it cannot be loaded: ModuleNotFoundError: No module named 'aix_broken.not_there'"
    assert reasons["half"] == "it lacks discover, extract"
    assert reasons["other"] == "it is not an Importer"
    assert reasons["notes"].startswith("several distributions register it: aix-")
    process = aix.run("import", logs, "--ledger", ledger, "--importer", "notes")
    assert process.returncode == 1
    assert "several distributions register it" in process.stderr


def test_problems_are_noted_and_strict_allows_none(aix: Plugged, logs: Path, ledger: Path) -> None:
    (logs / "b.note").write_text("note\nfirst of b\n\nsecond of b\n")
    strict = aix.run("import", logs, "--ledger", ledger, "--strict")
    assert strict.returncode == 1
    assert f"{logs}/b.note: it has problems, and --strict allows none" in strict.stderr
    assert "first of b" not in prompts(ledger)
    counts = aix.counts(logs, "--ledger", ledger)
    assert (counts["sources", "imported"], counts["problems", "found"]) == (1, 1)
    assert "first of b" in prompts(ledger)
    problems = [row for row in rows_of(ledger, "import_problems") if row["kind"] == "empty_line"]
    assert {(row["line"], row["byte_offset"], row["reason"]) for row in problems} == {(3, 16, "The line is empty.")}
    assert {row["sample"] for row in problems} == {"x" * 200}


def test_a_dry_run_does_nothing(aix: Plugged, logs: Path, ledger: Path) -> None:
    assert sources(aix.counts(logs, "--ledger", ledger, "--dry-run")) == {"imported": 3}
    assert not ledger.exists()
    aix.counts(logs, "--ledger", ledger)
    (logs / "a.note").write_text("note\nother\n")
    os.utime(logs / "b.note", (1, 1))
    counts = aix.counts(logs, "--ledger", ledger, "--dry-run")
    assert counts == {("sources", "skipped"): 2, ("sources", "upserted"): 1, ("version", "of the ledger"): 1}
    assert not (ledger / "touched.json").exists()


def test_sources_of_a_group_are_read_together(aix: Plugged, tmp_path: Path, ledger: Path) -> None:
    folder = tmp_path / "together"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.note").write_text(f"note\nfirst of {name}\n")
    aix.counts(folder, "--ledger", ledger)
    (folder / "a.note").write_text("note\nfirst of a\nsecond of a\n")
    counts = aix.counts(folder, "--ledger", ledger)
    assert sources(counts) == {"skipped": 1, "upserted": 1}
    assert len(prompts(ledger)) == 3
    assert {row["source_key"] for row in rows_of(ledger, "import_log")} == {
        str(folder / f"{name}.note") for name in "ab"
    }


def test_a_source_changes_with_its_sidecars(aix: Plugged, logs: Path, ledger: Path) -> None:
    aix.counts(logs, "--ledger", ledger)
    (logs / "a.extra").write_text("more of a\n")
    assert sources(aix.counts(logs, "--ledger", ledger)) == {"skipped": 2, "upserted": 1}
    assert "more of a" in prompts(ledger)
    assert sources(aix.counts(logs, "--ledger", ledger)) == {"skipped": 3}


def test_what_changes_while_it_is_read_is_read_again(aix: Plugged, logs: Path, ledger: Path) -> None:
    growing = logs / "g.trouble"
    growing.write_text(f"note\nappend {growing}\n")
    aix.counts(logs, "--ledger", ledger)
    assert sources(aix.counts(logs, "--ledger", ledger)) == {"skipped": 3, "upserted": 1}
    assert "more" in prompts(ledger)


def test_the_same_path_on_another_machine_is_another_source(aix: Plugged, logs: Path, ledger: Path) -> None:
    aix.counts(logs, "--ledger", ledger)
    assert sources(aix.counts(logs, "--ledger", ledger, "--machine", "old")) == {"imported": 3}
    assert sources(aix.counts(logs, "--ledger", ledger, "--machine", "old")) == {"skipped": 3}
    rows = {str(row["source_key"]): row["machine"] for row in rows_of(ledger, "import_sources")}
    assert rows[f"old:{logs}/a.note"] == "old"
    assert rows[f"{logs}/a.note"] != "old"


def test_without_a_path_histories_are_found_where_tools_keep_them(
    aix: Plugged, logs: Path, ledger: Path, empty_home: Path
) -> None:
    nothing = aix.run("import", "--ledger", ledger)
    assert (nothing.returncode, "No histories were found" in nothing.stdout) == (0, True)
    assert not is_ledger(ledger)
    logs.rename(empty_home / "notes")
    assert sources(aix.counts("--ledger", ledger)) == {"imported": 3}
    (empty_home / "notes" / "a.note").unlink()
    rows = json.loads(aix.run("sources", "--ledger", ledger, "--json").stdout)
    assert {(row["state"], Path(row["source"]).name) for row in rows} == {
        ("unchanged", "b.note"),
        ("unchanged", "c.note"),
        ("gone", "a.note"),
    }
    assert sources(aix.counts("--ledger", ledger)) == {"skipped": 2}
    assert "first of a" in prompts(ledger)


def test_copies_of_sources_are_kept_when_asked_for(aix: Plugged, logs: Path, ledger: Path) -> None:
    aix.counts(logs, "--ledger", ledger, "--keep-raw")
    assert set(kept_digests(ledger)) == {row["fingerprint"] for row in rows_of(ledger, "import_sources")}
    assert len(set(kept_digests(ledger))) == 3


def test_progress_shows_on_a_terminal_and_nowhere_else(aix: Plugged, logs: Path, tmp_path: Path) -> None:
    shown, code = run_on_terminal(*aix.command("import", logs, "--ledger", tmp_path / "one"), columns=100)
    assert code == 0
    assert "of 3 sources" in shown
    piped = aix.run("import", logs, "--ledger", tmp_path / "two")
    assert (piped.returncode, piped.stderr) == (0, "")


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (None, 2, "does not exist"),
        ("", 0, ""),
        ("garbage", 1, "no importer recognises it"),
    ],
)
def test_a_file_that_is_no_log_is_named(
    aix: Plugged, tmp_path: Path, ledger: Path, content: str | None, code: int, said: str
) -> None:
    if content is not None:
        (tmp_path / "x.note").write_text(content)
    process = aix.run("import", tmp_path / "x.note", "--ledger", ledger)
    assert (process.returncode, said in process.stderr) == (code, True)
    assert not ledger.exists()


def test_special_files_and_loops_are_passed_over(aix: Plugged, logs: Path, ledger: Path) -> None:
    os.mkfifo(logs / "pipe.note")
    (logs / "loop").symlink_to(logs)
    (logs / "gone.note").symlink_to(logs / "nowhere")
    process = aix.run("import", logs, "--ledger", ledger)
    assert process.returncode == 1
    assert f"{logs}/gone.note: it cannot be read: No such file or directory" in process.stderr
    assert len(prompts(ledger)) == 6


def test_what_may_not_be_read_is_named(aix: Plugged, logs: Path, ledger: Path) -> None:
    (logs / "closed").mkdir()
    for name in ("b.note", "closed"):
        (logs / name).chmod(0)
    process = subprocess.run(
        aix.command("import", logs, "--ledger", ledger), capture_output=True, text=True, preexec_fn=give_up_root
    )
    (logs / "closed").chmod(0o700)
    assert process.returncode == 1
    for name in ("b.note", "closed"):
        assert f"{logs}/{name}: it cannot be read: Permission denied" in process.stderr
    assert len(prompts(ledger)) == 4


def give_up_root() -> None:
    """Let go of what allows root to read every file."""
    if os.geteuid() == 0:
        system = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert system.prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


def test_options_of_importers_are_checked_and_change_what_is_read(aix: Plugged, logs: Path, ledger: Path) -> None:
    for option, said in (("shout", "IMPORTER.OPTION=VALUE"), ("notes.x=1", "option of notes"), ("no.x=1", "importer")):
        process = aix.run("import", logs, "--ledger", ledger, "--option", option)
        assert (process.returncode, said in process.stderr) == (2, True)
    assert sources(aix.counts(logs, "--ledger", ledger, "--option", "notes.shout=yes")) == {"imported": 3}
    assert "FIRST OF A" in prompts(ledger)
    assert sources(aix.counts(logs, "--ledger", ledger, "--option", "notes.shout=yes")) == {"skipped": 3}
    assert sources(aix.counts(logs, "--ledger", ledger)) == {"upserted": 3}
    assert "FIRST OF A" not in prompts(ledger)


def test_another_version_of_an_importer_replaces_what_the_first_gave(aix: Plugged, logs: Path, ledger: Path) -> None:
    (logs / "a.note").write_text("note\nfirst of a\nsecond of a\n")
    aix.counts(logs, "--ledger", ledger)
    before = facts(ledger)
    (logs / "b.note").unlink()
    process = aix.run("import", logs, "--ledger", ledger, AIX_NOTES_VERSION="2", AIX_NOTES_SKIPS="second")
    assert process.returncode == 0
    assert prompts(ledger) == {"first of a", "first of b", "second of b", "first of c"}
    assert read_latest(ledger).replaces_rows
    assert not [finding for finding in check(ledger) if finding.status is Status.ALARM]
    assert sources(aix.counts(logs, "--ledger", ledger, AIX_NOTES_VERSION="2")) == {"skipped": 2}
    assert sources(aix.counts(logs, "--ledger", ledger, "--reparse", AIX_NOTES_VERSION="2")) == {"upserted": 2}
    assert facts(ledger) == before


def test_a_session_of_two_sources_is_joined_unless_both_are_read_together(
    aix: Plugged, ledger: Path, tmp_path: Path
) -> None:
    for group in ("apart", "together"):
        for place, lines in (("one", "first\nsecond\n"), ("two", "first\nsecond\nthird\n")):
            folder = tmp_path / group / (place if group == "apart" else "")
            folder.mkdir(parents=True, exist_ok=True)
            name = "same.apart.note" if group == "apart" else f"{place}.same.note"
            (folder / name).write_text(f"note\n{lines}")
    aix.counts(tmp_path / "apart", tmp_path / "together", "--ledger", ledger)
    aix.counts(tmp_path / "apart", tmp_path / "together", "--ledger", ledger, "--reparse", AIX_NOTES_SKIPS="third")
    kept = [row["id"] for row in rows_of(ledger, "messages") if row["content"] == "third"]
    assert len(kept) == 1


def test_what_is_gone_from_disk_stays_when_another_version_reads_what_took_its_place(
    aix: Plugged, logs: Path, ledger: Path
) -> None:
    (logs / "log.note").write_text("note\nsession monday\nfirst of monday\n")
    aix.counts(logs, "--ledger", ledger)
    (logs / "log.note").write_text("note\nsession tuesday\nfirst of tuesday\n")
    aix.counts(logs, "--ledger", ledger)
    aix.counts(logs, "--ledger", ledger, AIX_NOTES_VERSION="2")
    assert {"first of monday", "first of tuesday"} <= prompts(ledger)


def test_an_outdated_source_that_fails_is_replaced_when_it_can_be_read(aix: Plugged, logs: Path, ledger: Path) -> None:
    (logs / "a.note").write_text("note\nfirst of a\n\nsecond of a\n")
    aix.counts(logs, "--ledger", ledger)
    aix.counts(logs, "--ledger", ledger, "--strict", code=1, AIX_NOTES_VERSION="2")
    aix.counts(logs, "--ledger", ledger, AIX_NOTES_VERSION="2", AIX_NOTES_SKIPS="second")
    assert "second of a" not in prompts(ledger)


def test_text_that_is_not_unicode_and_printing_harm_nobody(aix: Plugged, logs: Path, ledger: Path) -> None:
    (logs / "t.trouble").write_text("note\nprint\nodd label\n")
    counts = aix.counts(logs, "--ledger", ledger)
    assert sources(counts) == {"imported": 4}
    assert "notes:t\ufffd" in {row["session_label"] for row in rows_of(ledger, "import_log")}


@pytest.mark.parametrize(
    "given", ["--reparse", "--jobs=2", "--machine=laptop", "--importer=notes", "--option=notes.a=1"]
)
def test_ledgers_are_joined_without_the_options_of_histories(
    aix: Plugged, logs: Path, ledger: Path, given: str
) -> None:
    aix.counts(logs, "--ledger", ledger)
    process = aix.run("import", ledger, "--ledger", logs / "other", given)
    name = given.partition("=")[0]
    assert (process.returncode, f"{name} is for histories" in process.stderr) == (2, True)
    assert not (logs / "other").exists()


def test_a_dry_run_of_a_join_makes_no_ledger(aix: Plugged, logs: Path, ledger: Path) -> None:
    aix.counts(logs, "--ledger", ledger)
    process = aix.run("import", ledger, "--ledger", logs / "other", "--dry-run")
    assert process.returncode == 0, process.stderr
    assert not (logs / "other").exists()


def test_many_sources_are_imported_within_the_memory_of_a_commit(logs: Path, ledger: Path) -> None:
    """Each order is a delivery, and each delivery costs memory while it is joined."""
    for number in range(40):
        entry = {"uuid": f"u{number}", "sessionId": f"s{number}", "timestamp": "2026-01-05T10:00:00Z"}
        text = {"role": "user", "content": f"{number} " * 1_400_000}
        (logs / f"{number}.jsonl").write_text(json.dumps({**entry, "message": text}) + "\n")
    report = import_histories(ledger, [logs], Settings(jobs=0))
    assert report.statuses == {ImportStatus.IMPORTED: 40}
    [run] = rows_of(ledger, "import_runs")
    assert run["finished_at"] is not None
