"""`aix personas`, and personas in `aix cost`, `aix resolve`, `aix audit` and `aix import`."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from aix.cli import command as command_module
from aix.output import Listing
from aix.output.tables import write_to_terminal
from aix.store.manifest import read_latest
from tests import ROOT
from tests.permissions.ledger import PERSONAS, apply_personas
from tests.support.command_line import run_aix, run_here, run_in_process

LISTED = """\
persona              sessions  turns  rules  last active       main session
session-log-default         1      1      –  2026-04-23 11:00  nobody-known
bo                          1      1      –  2026-04-23 10:00  by-bo-hi
buyer                       1      2      –  2026-04-23 09:01  on-behal
cursor-default              1      1      –  2026-04-22 09:02  wicks
weaver                      4      4      3  2026-04-22 09:00  restrict
sailor                      9      9      0  2026-04-21 09:02  hostile
printer                     8     14     11  2026-04-18 09:04  plan-rej
scout                       1      1      3  2026-04-18 09:01  –
miller                      3      8      0  2026-04-13 09:27  modes
pond                        1      8      –  2026-04-11 12:00  chats:pond
garden                      1      1      –  2026-04-10 12:00  chats:garden
"""
HELD = """\
setting     value             from
persona     printer           mapping 2
name        Printer           persona
model       small             override
thinking    high              persona
deny        Bash(rm *)        persona
deny        Read(./.env)      persona
deny        WebFetch          persona
deny        Bash(git push *)  override
"""


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a command, and give what a terminal of 80 columns shows of its data."""

    def drawn(ledger: Path, *arguments: str) -> str:
        out = io.StringIO()

        def draw(listing: Listing, **_: object) -> list[str]:
            return write_to_terminal(listing.for_people or listing, out)

        with monkeypatch.context() as patch:
            patch.setenv("COLUMNS", "80")
            patch.setenv("NO_COLOR", "1")
            patch.setattr(command_module, "emit", draw)
            run_here(*arguments, "--ledger", str(ledger))
        return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())

    return drawn


def ask(ledger: Path, *arguments: str) -> str:
    process = run_in_process(*arguments, "--ledger", str(ledger))
    assert process.returncode == 0, process.stderr
    return process.stdout


def as_json(ledger: Path, *arguments: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(ask(ledger, *arguments, "--json"))
    return found


def test_personas_are_listed_the_latest_first(persona_ledger: Path, screen: Callable[..., str]) -> None:
    assert screen(persona_ledger, "personas") == LISTED


def test_a_target_shows_what_holds_for_its_next_turn(persona_ledger: Path, screen: Callable[..., str]) -> None:
    shown = screen(persona_ledger, "personas", "persona:printer", "--model", "small", "--deny", "Bash(git push *)")
    assert shown.startswith(HELD)
    rows = [
        tuple(row.values())
        for row in as_json(persona_ledger, "personas", "plan-rej", "--allow", "Read", "--ask", "Bash(git *)")
    ]
    assert rows == [
        ("persona", "printer", "mapping 2"),
        ("name", "Printer", "persona"),
        ("model", "press-model", "persona"),
        ("thinking", "high", "persona"),
        ("deny", "Bash(rm *)", "persona"),
        ("deny", "Read(./.env)", "persona"),
        ("deny", "WebFetch", "persona"),
        ("ask", "Bash(git *)", "override"),
        ("allow", "Read", "override"),
        ("credential", "nothing", "persona"),
        ("read", "workspace", "persona"),
        ("write", "workspace", "persona"),
    ]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("persona:weaver", {"persona": "weaver", "model": "claude-sonnet-4-5-20250929", "ask": "Bash(git push *)"}),
        ("agent-ab0a7", {"persona": "printer", "model": "press-model"}),
        ("agent-a5c0u7", {"persona": "scout", "model": "claude-sonnet-4-5-20250929"}),
        ("by-bo-himself", {"persona": "bo", "model": "claude-sonnet-4-5", "allow": "order"}),
        ("denied-by-mode", {"persona": "miller", "model": "mill-model"}),
    ],
)
def test_a_model_is_that_of_the_persona_else_of_the_thread(
    persona_ledger: Path, target: str, expected: dict[str, str]
) -> None:
    rows = as_json(persona_ledger, "personas", target)
    assert expected.items() <= {row["setting"]: row["value"] for row in rows}.items()


@pytest.mark.long
def test_a_persona_needs_no_word_and_near_ones_are_named(persona_ledger: Path) -> None:
    assert as_json(persona_ledger, "personas", "printer") == as_json(persona_ledger, "personas", "persona:printer")
    process = run_in_process("personas", "prnter", "--ledger", str(persona_ledger))
    assert process.returncode == 2
    assert "there is no persona, session or text named 'prnter'\n  did you mean printer?" in process.stderr


def test_a_persona_without_a_main_session_says_why(persona_ledger: Path, tmp_path: Path) -> None:
    process = run_in_process("resolve", "persona:scout", "--ledger", str(persona_ledger))
    assert "has no main session: its sessions are archived, or of subagents" in process.stderr
    (tmp_path / "personas.toml").write_text('[personas.idle]\nname = "Idle"\n')
    ledger = apply_personas(shutil.copytree(persona_ledger, tmp_path / "ledger"), tmp_path / "personas.toml")
    process = run_in_process("resolve", "persona:idle", "--ledger", str(ledger))
    assert (process.returncode, process.stdout) == (2, "")
    assert "the persona idle has no main session: no session is its own" in process.stderr


def test_costs_are_shown_by_persona(persona_ledger: Path) -> None:
    lines = ask(persona_ledger, "cost", "--by", "persona").splitlines()
    assert [line.split()[0] for line in lines[2:]][:5] == ["sailor", "printer", "miller", "weaver", "scout"]
    pairs = as_json(persona_ledger, "query", "cost_by_two", "--param", "first=persona", "--param", "second=model")
    by_persona = as_json(persona_ledger, "query", "cost_by_persona")
    assert sum(float(str(row["cost_usd"])) for row in pairs) == pytest.approx(
        sum(float(str(row["cost_usd"])) for row in by_persona)
    )


def test_options_of_a_router_need_a_target(persona_ledger: Path) -> None:
    process = run_in_process("personas", "--deny", "Bash", "--ledger", str(persona_ledger))
    assert process.returncode == 2
    assert "Name the TARGET" in process.stderr


@pytest.mark.long
def test_an_import_applies_the_file_that_the_settings_name(tmp_path: Path) -> None:
    config, ledger = tmp_path / "config.toml", tmp_path / "ledger"
    config.write_text('personas = "personas.toml"\n')
    (tmp_path / "personas.toml").write_text(PERSONAS.read_text("utf-8"), "utf-8")
    log = ROOT / "fixtures" / "session_log" / "two_turns"
    process = run_aix("--config", str(config), "import", str(log), "--ledger", str(ledger))
    assert process.returncode == 0, process.stderr
    assert read_latest(ledger).personas is not None
    (tmp_path / "personas.toml").write_text("[personas.a]\ntools.allows = []\n")
    process = run_aix("--config", str(config), "import", str(log), "--ledger", str(ledger))
    assert process.returncode == 2
    assert "persona 'a': there is no setting 'tools.allows'; did you mean allow?" in process.stderr
    assert "docs/personas.md" in process.stderr


def test_personas_of_an_option_stay_until_they_are_removed(tmp_path: Path) -> None:
    log, file, ledger = tmp_path / "log", tmp_path / "personas.toml", tmp_path / "ledger"
    shutil.copytree(ROOT / "fixtures" / "session_log" / "two_turns", log)
    file.write_text("[personas.one]\n")
    always = {"AIX_LEDGER": str(ledger), "AIX_AUTO_IMPORT": "always"}

    def run(*arguments: str, **environment: str) -> str:
        process = run_in_process(*arguments, **always, **environment)
        assert process.returncode == 0, process.stderr
        return process.stderr

    assert "the personas of the file are applied" in run("import", str(log), "--personas", str(file))
    applied = read_latest(ledger)
    for command in (["personas"], ["cost"], ["resolve", "persona:one"]):
        assert "aix import" not in run_in_process(*command, **always).stderr
    assert "personas" not in run("import", str(log))
    run("import", str(log), "--reparse")
    assert read_latest(ledger).personas == applied.personas
    other = tmp_path / "other"
    run("import", str(log), "--ledger", str(other))
    assert "personas" not in run("import", str(other))
    assert read_latest(ledger).personas == applied.personas
    file.write_text("[personas.two]\n")
    said = run("personas", AIX_PERSONAS=str(file))
    assert "the ledger does not have the personas of your file as it is now; run `aix import`" in said
    assert "the personas of the file are applied" in run("import", str(log), AIX_PERSONAS=str(file))
    assert "does not have" not in run("personas", AIX_PERSONAS=str(file))
    assert "the ledger has no personas of a file any more" in run("import", str(log), "--no-personas")
    assert read_latest(ledger).personas is None
    process = run_in_process("import", "--no-personas", "--personas", str(file), **always)
    assert (process.returncode, "not both" in process.stderr) == (2, True)


def test_without_a_file_the_personas_of_logs_are_listed_with_a_hint(permission_ledger: Path) -> None:
    process = run_in_process("personas", "--ledger", str(permission_ledger))
    assert "claude-code-default" in process.stdout
    assert "docs/personas.md shows how to describe your own" in process.stderr


@pytest.mark.long
def test_hostile_personas_do_no_harm_on_the_screen(
    persona_ledger: Path, tmp_path: Path, screen: Callable[..., str]
) -> None:
    hostile = "<b>[red]; $(rm -rf /)"
    file = tmp_path / "personas.toml"
    file.write_text(
        f"[personas.'{hostile}']\n"
        "name = \"a\\nb\\tc\"\nmodel = '[bold]x'\ntools.deny = ['Bash([red]\u202e)']\n"
        f"[[mappings]]\npersona = '{hostile}'\norigin = 'claude-code'\n",
        "utf-8",
    )
    ledger = apply_personas(shutil.copytree(persona_ledger, tmp_path / "ledger"), file)
    for arguments in (("personas",), ("personas", "modes"), ("cost", "--by", "persona")):
        shown = screen(ledger, *arguments)
        assert "<b>[red]; $(rm" in shown
        assert "\u202e" not in shown
        assert all(len(line) <= 80 for line in shown.splitlines())
