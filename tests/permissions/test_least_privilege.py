"""`aix audit propose` and `replay` on the ledger of the fixtures."""

import json
import re
from collections import Counter
from pathlib import Path

import click
import pytest

import aix
from aix.errors import UnknownNameError, UsageError
from aix.permissions.audit.proposal import Use, observed_calls, propose, uses_of
from aix.permissions.contract import Call, Decision, dialects
from tests.permissions.ledger import Answer, settings_of, write_settings
from tests.support.command_line import run_here
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

PROJECTS = ("press", "loom", "mill", "drift")
RISKS = {
    "destructive", "privilege", "remote_code", "credential_read", "network", "force_push", "package_install",
    "package_publish", "write_outside_workspace", "container_privileged", "history_rewriting", "mcp_write",
    "unknown_program",
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("cover", ["60%", "100%"])
def test_a_proposal_replayed_covers_what_it_says_and_allows_nothing_refused(
    audit: Answer, tmp_path: Path, project: str, cover: str
) -> None:
    chosen = ("--project", project, "--origin", "claude-code")
    proposed = audit("propose", *chosen, "--cover", cover, "--json")
    settings = tmp_path / "proposed.json"
    settings.write_text(json.dumps(proposed["settings"]), "utf-8")
    replayed = audit("replay", str(settings), *chosen, "--calls", "--json")
    needing = [call for call in replayed if call["happened"] in ("ran", "failed") and not call["by_itself"]]
    allowed = [call for call in needing if call["would"] == "allow"]
    assert (proposed["calls"], proposed["allowed"]) == (len(needing), len(allowed))
    assert proposed["coverage"] == (len(allowed) / len(needing) if needing else 1)
    risky = [call for call in replayed if call["would"] == "allow" and set(call["risks"] or ()) - {"network"}]
    assert [call["target"] for call in risky] == proposed["still_free"] == []


def test_a_smaller_share_needs_fewer_rules(audit: Answer) -> None:
    chosen = ("--project", "press", "--origin", "claude-code", "--json")
    few, all_of_them = audit("propose", *chosen, "--cover", "50%"), audit("propose", *chosen)
    assert few["coverage"] >= 0.5
    assert len(few["settings"]["permissions"]["allow"]) < len(all_of_them["settings"]["permissions"]["allow"])


def test_a_server_with_a_refused_tool_is_allowed_tool_by_tool(audit: Answer) -> None:
    chosen = ("--project", "press", "--origin", "claude-code", "--json")
    rules = audit("propose", *chosen)["settings"]["permissions"]["allow"]
    assert "mcp__tracker__list_issues" in rules
    assert "mcp__tracker" not in rules
    assert "mcp__tracker" in audit("propose", *chosen, "--allow-risk", "mcp_write")["settings"]["permissions"]["allow"]


def test_what_one_person_needs_is_proposed_in_the_words_of_the_tool(audit: Answer) -> None:
    proposed = audit("propose", "--origin", "cursor", "--json")
    assert proposed["coverage"] == 1
    assert "Shell(make)" in proposed["settings"]["permissions"]["allow"]


def test_where_all_is_refused_nothing_counts_as_allowed() -> None:
    for dialect in dialects().values():
        refused = Use(Call("shell", {"command": "rm -rf /"}, "/srv"), count=3, is_refused=True)
        proposal = propose(dialect, [refused], 1.0)
        assert (proposal.rules, proposal.calls, proposal.allowed) == ((), 3, 0)


def test_what_would_also_ask_before_calls_that_are_not_refused_is_not_proposed() -> None:
    def use(command: str, *, is_refused: bool) -> Use:
        return Use(Call("Bash", {"command": command}, "/srv"), 0, is_refused, free=1)

    dialect = dialects()["claude-code"]
    chain, alone = use("ls && cat .env", is_refused=True), use("ls", is_refused=False)
    proposal = propose(dialect, [chain, alone], 1.0)
    assert (proposal.rules, proposal.asking, proposal.still_free) == ((), ("Bash(cat .env)",), ())
    proposal = propose(dialect, [chain, alone, use("cat .env", is_refused=False)], 1.0)
    assert (proposal.rules, proposal.asking, proposal.still_free) == ((), (), (chain,))


def command_use(command: str, count: int = 1, *, is_outside: bool = False) -> Use:
    return Use(Call("Bash", {"command": command}, "/srv/mill"), count, is_refused=False, is_outside=is_outside)


def test_no_rule_names_a_script_that_ran_once_or_a_path_outside_the_project() -> None:
    dialect = dialects()["claude-code"]
    kept = [command_use("make build"), command_use("python tools/grind.py", 2), command_use("/srv/mill/run.sh", 2)]
    one_offs = [
        command_use("python once.py"),
        command_use('python3 -c "import a\nprint(a)"', 3),
        command_use("./x.sh -v"),
    ]
    outside = [
        command_use("git -C /srv/loom status"),
        command_use("git -C ~/own log", 4),
        command_use("du", is_outside=True),
    ]
    proposal = propose(dialect, [*kept, *one_offs, *outside], 1.0)
    assert proposal.rules == ("Bash(/srv/mill/run.sh *)", "Bash(make *)", "Bash(python tools/grind.py *)")
    assert set(map(id, proposal.one_offs)) == set(map(id, one_offs))
    assert set(map(id, proposal.outside)) == set(map(id, outside))
    assert (proposal.calls, proposal.allowed) == (sum(use.count for use in (*kept, *one_offs, *outside)), 5)


def test_broad_rules_come_with_the_worst_that_they_allow() -> None:
    reasons = {
        "can run any program": (
            "awk 1 a", "docker exec web ls", "docker run --rm img ls", "find . -name a", "make build", "psql -c x",
            "rsync -a a b", "sed -n 1p a", "sqlite3 a.db x", "tar tf a.tar", "uv run pytest -q", "vim a",
        ),
        "can write any file": ("cp a b", "tee a"),
        "can write any file and reach any host": ("curl -s https://example.net",),
        "can read any file": ("cat a", "grep x a"),
        "can reach any host": ("ping example.net",),
        "": ("git log -1", "docker ps", "npm run build", "ls a", "mkdir a", "npx eslint a", "pytest -q"),
    }  # fmt: skip
    dialect = dialects()["claude-code"]
    for why, commands in reasons.items():
        for command in commands:
            proposal = propose(dialect, [Use(Call("Bash", {"command": command}, "/srv/mill"), 1, is_refused=False)], 1)
            assert proposal.rules, command
            assert proposal.broad == (((proposal.rules[0], why),) if why else ()), command


def test_a_long_command_that_ran_once_stays_a_one_off_when_its_wide_rule_is_risky() -> None:
    once = command_use("git push origin a-branch-with-a-name-of-more-than-forty-letters")
    forced = Use(Call("Bash", {"command": "git push --force"}, "/srv/mill"), 1, is_refused=True)
    proposal = propose(dialects()["claude-code"], [once, forced], 1.0)
    assert (proposal.rules, proposal.still_asked, proposal.one_offs) == ((), (once,), (once,))


def test_a_folder_with_one_of_the_files_is_left_as_it_is(permission_ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "mill.json").write_text("mine", "utf-8")
    with pytest.raises(click.UsageError, match=r"mill\.json exists; nothing was written"):
        run_here("audit", "propose", "--origin", "claude-code", "-o", str(tmp_path), "--ledger", str(permission_ledger))
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [("mill.json", "mine")]


def test_a_folder_gets_a_file_for_each_project(
    permission_ledger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "proposals"
    run_here("audit", "propose", "--origin", "claude-code", "-o", f"{folder}/", "--ledger", str(permission_ledger))
    said = capsys.readouterr().err
    files = {path.name: json.loads(path.read_text("utf-8")) for path in folder.iterdir()}
    assert {"press.json", "loom.json", "mill.json"} <= files.keys()
    assert "Bash(npm run build *)" in files["mill.json"]["permissions"]["allow"]
    assert all(f"aix: {folder / name}: " in said for name in files)
    assert "10 of 12 calls that needed a permission would pass by 6 rules (83.3 %); 16.7 % would still ask" in said
    with pytest.raises(click.UsageError, match="--json writes one object"):
        run_here(
            "audit",
            "propose",
            "--origin",
            "claude-code",
            "--json",
            "-o",
            str(folder),
            "--ledger",
            str(permission_ledger),
        )


def test_a_proposal_says_what_it_leaves_out_and_that_settings_are_of_one_project(
    permission_ledger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out.json")
    run_here("audit", "propose", "--project", "mill", "-o", out, "--ledger", str(permission_ledger))
    said = capsys.readouterr().err
    assert "aix: 2 risky calls left out (will still ask):\n" in said
    assert "projects" not in said
    Path(out).unlink()
    several = ("audit", "propose", "--origin", "claude-code", "--ledger", str(permission_ledger))
    ways = r"name one, such as --project \S+, or write a file for each with -o FOLDER/"
    with pytest.raises(click.UsageError, match=rf"projects, and settings belong to one\. Nothing was written: {ways}"):
        run_here(*several, "-o", out)
    assert not Path(out).exists()
    run_here(*several)
    assert re.search(rf"settings belong to one: {ways}\n", capsys.readouterr().err)


@pytest.mark.long
def test_the_whole_path_of_a_project_names_it_without_the_projects_below_it(tmp_path: Path) -> None:
    call = SAMPLE_ROWS["tool_calls"][0]
    turns = [
        {**turn, "workspace_path": "/srv/mill" if turn["id"] == call["turn_id"] else "/srv/mill/wheel"}
        for turn in SAMPLE_ROWS["turns"]
    ]
    below = next(turn["id"] for turn in turns if turn["id"] != call["turn_id"])
    calls = [call, {**call, "id": "call_2", "turn_id": below}]
    decision = SAMPLE_ROWS["permission_decisions"][0]
    decisions = [decision, {**decision, "call_id": "call_2", "turn_id": below}]
    rows = {"turns": turns, "tool_calls": calls, "permission_decisions": decisions}
    write_ledger(tmp_path / "ledger", {**SAMPLE_ROWS, **rows})
    with aix.open(tmp_path / "ledger") as opened:
        found = {text: observed_calls(opened, {"project": text}) for text in ("/srv/mill", "mill", "/srv/mill/wheel")}
    assert {text: [each.call_id for each in listed] for text, listed in found.items()} == {
        "/srv/mill": ["call_1"],
        "mill": ["call_1", "call_2"],
        "/srv/mill/wheel": ["call_2"],
    }


def test_a_replay_begins_with_the_calls_that_it_would_have_blocked(
    permission_ledger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = write_settings(tmp_path, deny=["Bash(npm *)"])
    out = str(tmp_path / "out.json")
    run_here("audit", "replay", settings, "--project", "mill", "-o", out, "--ledger", str(permission_ledger))
    rows = json.loads((tmp_path / "out.json").read_text("utf-8"))
    blocked = sum(row["calls"] for row in rows if row["would"] == "deny" and row["happened"] in ("ran", "failed"))
    needing = sum(row["needed_permission"] for row in rows if row["happened"] in ("ran", "failed"))
    passed = sum(row["calls"] for row in rows if row["happened"] in ("ran", "failed"))
    assert blocked > 0
    first = f"aix: Would have blocked {blocked} of {passed} calls that ran or failed. "
    assert capsys.readouterr().err.startswith(f"{first}{needing} of them needed a permission: ")


def test_settings_without_rules_leave_every_call_to_the_default_mode(audit: Answer, tmp_path: Path) -> None:
    counted = audit("replay", write_settings(tmp_path, allow=[]), "--json")
    everything = audit("replay", write_settings(tmp_path, allow=["Bash(npm *)"]), "--json")
    assert {(row["would"], row["by"]) for row in counted} == {("allow", "default"), ("ask", "default")}
    assert sum(row["calls"] for row in counted) == sum(row["calls"] for row in everything) > 0


def test_the_default_mode_allows_what_runs_by_itself_and_asks_for_the_rest(audit: Answer, tmp_path: Path) -> None:
    calls = audit("replay", write_settings(tmp_path, allow=[]), "--calls", "--json")
    assert {(call["would"], call["by_itself"]) for call in calls} == {("allow", True), ("ask", False)}
    assert {call["rule"] for call in calls} == {None}
    denied = [(call["would"], call["agrees"]) for call in calls if call["happened"] == "denied_rule"]
    assert set(denied) == {("ask", True), ("allow", False)}


def test_a_proposal_in_a_file_of_any_name_is_replayed_as_that_of_the_origin(audit: Answer, tmp_path: Path) -> None:
    proposed = audit("propose", "--origin", "cursor", "--json")
    settings = tmp_path / "any_name.json"
    settings.write_text(json.dumps(proposed["settings"]), "utf-8")
    replayed = audit("replay", str(settings), "--origin", "cursor", "--calls", "--json")
    assert sum(call["would"] == "allow" for call in replayed) >= proposed["allowed"] > 0


def test_a_proposal_is_about_one_tool(audit: Answer) -> None:
    with pytest.raises(UsageError, match="claude-code and cursor"):
        audit("propose")


@pytest.mark.parametrize("share", ["0", "101%", "most", "-1", "nan", "inf%", ""])
def test_a_share_that_cannot_be_is_refused(audit: Answer, share: str) -> None:
    with pytest.raises(click.BadParameter):
        audit("propose", "--cover", share)


@pytest.mark.parametrize("share", ["1", "1.0", " 1 "])
def test_a_share_that_can_mean_two_things_is_refused(audit: Answer, share: str) -> None:
    with pytest.raises(click.BadParameter, match="1% or 100%"):
        audit("propose", "--cover", share)


def test_a_share_is_written_with_or_without_a_sign(audit: Answer) -> None:
    chosen = ("--project", "mill", "--json", "--cover")
    shares = [audit("propose", *chosen, share)["coverage"] for share in ("50%", "50", "0.5", "50 %", "2%", "2")]
    assert shares == [0.5] * 4 + [shares[-1]] * 2
    assert 0.02 <= shares[-1] < 0.5


def test_a_class_of_risk_of_ones_own_is_refused_too(audit: Answer, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'dated = 2026-11-16\n[risks]\nbuilding = "Builds something."\n[[rule]]\nid = "build"\nrisk = "building"\n'
        'severity = "low"\nprogram = ["npm"]\nsubcommand = ["run"]\n',
        "utf-8",
    )
    chosen = ("--project", "mill", "--json")
    before, after = audit("propose", *chosen), audit("propose", *chosen, "--risks", str(own))
    assert set(before["settings"]["permissions"]["allow"]) - set(after["settings"]["permissions"]["allow"]) == {
        "Bash(npm run build *)"
    }
    settings = tmp_path / "proposed.json"
    settings.write_text(json.dumps(after["settings"]), "utf-8")
    replayed = audit("replay", str(settings), "--project", "mill", "--risks", str(own), "--calls", "--json")
    building = [call for call in replayed if "building" in (call["risks"] or ())]
    assert {call["would"] for call in building} == {"ask"}
    assert audit("propose", *chosen, "--risks", str(own), "--allow-risk", "building")["settings"] == before["settings"]


def test_a_class_of_risk_that_is_not_known_is_refused(audit: Answer) -> None:
    with pytest.raises(UnknownNameError, match="class of risk named 'destructiv'"):
        audit("propose", "--origin", "claude-code", "--allow-risk", "destructiv")


def test_replayed_settings_of_ones_own_predict_every_denial_by_rule(
    audit: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    denied: dict[str, Counter[tuple[str, str]]] = {}
    for project in ("press", "loom", "mill", "lamp"):
        calls = audit("replay", *settings_of(project), "--project", project, "--calls", "--json")
        logged = [call for call in calls if call["happened"] == "denied_rule"]
        denied[project] = Counter((call["would"], call["by"]) for call in logged)
        assert {would for would, _ in denied[project]} <= {"deny", "ask"}
        assert all(call["agrees"] for call in logged)
    counts = {project: decisions.total() for project, decisions in denied.items()}
    with capsys.disabled():
        print(f"\ndenials by rule that were predicted: {sum(counts.values())} of {sum(counts.values())} {counts}")
    assert counts == {"press": 5, "loom": 3, "mill": 3, "lamp": 1}


def test_replay_counts_what_would_have_been_against_what_was(audit: Answer, tmp_path: Path) -> None:
    settings = write_settings(tmp_path, deny=["Bash(rm *)"], allow=["Bash(npm *)"])
    counted = audit("replay", settings, "--project", "press", "--origin", "claude-code", "--json")
    by_place = {(row["would"], row["by"], row["happened"]): (row["calls"], row["agrees"]) for row in counted}
    assert by_place["deny", "rule", "denied_rule"] == (4, True)
    assert by_place["allow", "rule", "ran"][1] is True
    assert by_place["ask", "default", "ran"][1] is True
    assert by_place["allow", "default", "denied_rule"] == (1, False)
    assert by_place["allow", "rule", "pending"][1] is None
    listed = audit("replay", settings, "--project", "press", "--origin", "claude-code", "--calls", "--json")
    assert len(listed) == sum(row["calls"] for row in counted)


def test_disagreements_are_calls_that_went_otherwise_than_they_would(audit: Answer, tmp_path: Path) -> None:
    settings = write_settings(tmp_path, deny=["Bash(git *)"], allow=["Bash(rm *)"])
    listed = audit("replay", settings, "--project", "press", "--disagreements", "--json")
    assert {(row["would"], row["by"], row["happened"]) for row in listed} == {
        ("deny", "rule", "ran"),
        ("allow", "rule", "denied_rule"),
        ("allow", "default", "denied_rule"),
        ("allow", "default", "denied_user"),
    }


def test_a_replay_says_which_rules_never_decide_and_what_it_leaves_out(
    audit: Answer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit("replay", write_settings(tmp_path, allow=["Bash(", "Bash(npm *)"]), "--project", "lamp", "--json")
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "aix: Would have blocked 0 of 0 calls that ran or failed; none of them needed a permission"
    assert said[1].startswith("aix: Bash( never decides: ")
    assert said[2:] == ["aix: 11 calls of other tools left out"]


def test_people_get_each_note_of_a_replay_once(
    permission_ledger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_here("audit", "replay", write_settings(tmp_path, deny=["Bash(npm *)"]), "--ledger", str(permission_ledger))
    notes = capsys.readouterr().err.splitlines()[1:]
    assert notes[0] == "aix: 11 calls of other tools left out"
    assert [note.split()[1] for note in notes[1:]] == ["agrees"]


@pytest.mark.long
def test_what_is_no_rule_in_settings_that_are_given_is_named(
    permission_ledger: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"permissions": {"allow": [1, "Bash(ls *)"], "deny": [{}] * 30}}), "utf-8")
    said = f"Entry 0 of `permissions.allow` in {settings} is no rule and was skipped."
    call = ("--tool", "Bash", "--input", '{"command": "rm x"}', "--cwd", "/srv")
    for arguments in (("replay", str(settings)), ("explain", "--settings", str(settings), *call)):
        run_here("audit", *arguments, "-o", str(tmp_path / "out.json"), "--ledger", str(permission_ledger))
        heard = capsys.readouterr().err
        assert f"aix: {said}\n" in heard
        assert "aix: And 11 more were skipped.\n" in heard
    run_here("audit", "--settings", str(settings), "-o", str(tmp_path / "out.md"), "--ledger", str(permission_ledger))
    assert "is no rule and was skipped" in (tmp_path / "out.md").read_text("utf-8")


def test_a_proposal_says_what_passes_and_that_it_asks_before_what_ran_by_itself(
    audit: Answer, capsys: pytest.CaptureFixture[str], tmp_path: Path, permission_ledger: Path
) -> None:
    chosen = ("--project", "press", "--origin", "claude-code", "-o", str(tmp_path / "proposed.json"))
    run_here("audit", "propose", *chosen, "--ledger", str(permission_ledger))
    said = capsys.readouterr().err
    proposed = audit("propose", *chosen[:4], "--json")
    rules = len(proposed["settings"]["permissions"]["allow"])
    assert (
        f"{proposed['allowed']} of {proposed['calls']} calls that needed a permission would pass by {rules} rules"
        in said
    )
    assert "2 ask rules stop risky calls that the tool runs without asking today" in said
    assert proposed["settings"]["permissions"]["ask"] == ["Bash(cat .env)", "Read(/.env)"]


def test_every_risk_that_is_refused_by_default_stays_refused(permission_ledger: Path) -> None:
    dialect = dialects()["claude-code"]
    with aix.open(permission_ledger) as opened:
        calls = observed_calls(opened, {"origin": "claude-code"})
    assert {risk for call in calls for risk in call.risks} == RISKS
    uses = uses_of(calls, dialect, RISKS)
    proposal = propose(dialect, uses, 1.0)
    judge = dialect.judge(
        [rule for text in proposal.rules for rule in dialect.read_settings("/s.json", _allowing(text), "")]
    )
    assert not [use for use in uses if use.is_refused and judge.judge(use.call).decision is Decision.ALLOW]


def _allowing(rule: str) -> bytes:
    return json.dumps({"permissions": {"allow": [rule]}}).encode()
