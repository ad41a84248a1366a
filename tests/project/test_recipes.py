"""The snippets of docs/recipes.md are what the programs that read them understand."""

import configparser
import json
import os
import plistlib
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import ROOT
from tests.support.command_line import AIX
from tests.support.priced_ledger import make_priced_ledger

PAGE = (ROOT / "docs" / "recipes.md").read_text("utf-8")


def snippets(language: str, holding: str = "") -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [text for text in found if holding in text]


def only(language: str, holding: str = "") -> str:
    [text] = snippets(language, holding)
    return text


def wait_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_priced_ledger(tmp_path_factory.mktemp("recipes") / "ledger")


@pytest.fixture
def installed(ledger: Path) -> dict[str, str]:
    """An environment in which `aix` is found, with a ledger."""
    return os.environ | {"PATH": f"{Path(AIX).parent}:{os.environ['PATH']}", "AIX_LEDGER": str(ledger)}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which `aix` is a program that writes down how it was called."""
    program = tmp_path / ".local" / "bin" / "aix"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nsleep 1\necho "$@" >> {tmp_path}/calls\n')
    program.chmod(0o755)
    return os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def test_the_crontab_has_five_fields_of_time_and_a_command(environment: dict[str, str], tmp_path: Path) -> None:
    minute, hour, *rest = only("crontab").split(maxsplit=5)
    assert 0 <= int(minute) < 60
    assert (hour, rest[:-1]) == ("*", ["*", "*", "*"])
    subprocess.run(["sh", "-c", rest[-1]], env=environment, check=True)
    assert (tmp_path / "calls").read_text() == "import\n"


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    service, timer = snippets("ini")
    for text, section in ((service, "Service"), (timer, "Timer")):
        parsed = configparser.ConfigParser(interpolation=None)
        parsed.optionxform = str  # type: ignore[assignment,method-assign]
        parsed.read_string(text)
        assert section in parsed
    program = shutil.which("systemd-analyze")
    if program is None:
        return
    (tmp_path / "aix-import.service").write_text(service.replace("%h/.local/bin/aix", AIX))
    (tmp_path / "aix-import.timer").write_text(timer)
    units = [str(tmp_path / f"aix-import.{kind}") for kind in ("service", "timer")]
    shown = subprocess.run([program, "verify", "--man=no", *units], capture_output=True, text=True, timeout=60)
    assert (shown.returncode, [line for line in shown.stderr.splitlines() if "aix-import" in line]) == (0, [])


def test_launchd_gets_a_property_list(environment: dict[str, str], tmp_path: Path) -> None:
    job = plistlib.loads(only("xml").encode())
    assert (job["Label"], job["StartInterval"]) == ("aix.import", 3600)
    (tmp_path / "Library" / "Logs").mkdir(parents=True)
    subprocess.run(job["ProgramArguments"], env=environment, check=True)
    assert (tmp_path / "calls").read_text() == "import\n"
    assert (tmp_path / "Library" / "Logs" / "aix-import.log").read_text() == ""


def test_the_hook_outlives_the_session(environment: dict[str, str], tmp_path: Path) -> None:
    [group] = json.loads(only("json", "SessionEnd"))["hooks"]["SessionEnd"]
    [hook] = group["hooks"]
    assert hook["type"] == "command"
    subprocess.run(["sh", "-c", hook["command"]], env=environment, input="{}", text=True, check=True)
    assert not (tmp_path / "calls").exists()
    assert wait_for((tmp_path / "calls").exists)
    assert (tmp_path / "calls").read_text() == "import\n"


def test_the_status_line_of_claude_code_reads_its_input(installed: dict[str, str]) -> None:
    line = json.loads(only("json", "statusLine"))["statusLine"]
    assert line["type"] == "command"
    given = {"session_id": "main", "model": {"display_name": "Opus"}, "context_window": {"used_percentage": 8}}
    shown = subprocess.run(
        ["sh", "-c", line["command"]],
        env=installed,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "Opus · context 8 % · session ≥$5.00 · block –, – left · today $0.00\n"
    assert shown.stderr == ""


def test_tmux_shows_the_line(installed: dict[str, str], tmp_path: Path) -> None:
    text = only("tmux")
    [command] = re.findall(r"#\((.*?)\)", text)
    shown = subprocess.run(["sh", "-c", command], env=installed, capture_output=True, text=True, check=True)
    assert shown.stdout == "$0.00 today, – block\n"
    program = shutil.which("tmux")
    if program is None:
        return
    (tmp_path / "tmux.conf").write_text(text)
    tmux = [program, "-S", str(tmp_path / "socket"), "-f", str(tmp_path / "tmux.conf")]
    try:
        subprocess.run([*tmux, "new-session", "-d", "sleep 60"], env=installed, check=True, capture_output=True)
        asked = [*tmux, "show-options", "-gv", "status-right"]
        value = subprocess.run(asked, env=installed, check=True, capture_output=True, text=True).stdout.strip()
        assert f"#({command})" in value
    finally:
        subprocess.run([*tmux, "kill-server"], env=installed, capture_output=True)


def test_starship_gets_a_module(installed: dict[str, str]) -> None:
    module = tomllib.loads(only("toml"))["custom"]["aix"]
    assert module["when"] is True
    assert "$output" in module["format"]
    shown = subprocess.run(["sh", "-c", module["command"]], env=installed, capture_output=True, text=True, check=True)
    assert shown.stdout == "$0.00 today\n"


def test_the_prompt_shows_the_line(installed: dict[str, str]) -> None:
    script = f'{only("sh")}eval "printf \'%s\' \\"$PS1\\""'
    shown = subprocess.run(["sh", "-c", script], env=installed, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("$0.00 ")
