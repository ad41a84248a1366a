"""Settings come from the environment, then the file, then the default, and say so."""

import json
from pathlib import Path

import pytest

from aix.config import load_config
from aix.errors import ConfigError
from tests.support.command_line import run_aix


def test_defaults_need_no_file(empty_home: Path) -> None:
    config = load_config(environ={})
    assert config.file == empty_home / ".config" / "aix" / "config.toml"
    assert config.ledger == empty_home / ".local" / "share" / "aix" / "ledger"
    assert config.timezone.key == "UTC"
    assert {setting.origin for setting in config.settings.values()} == {"default"}


def test_the_users_own_file_is_read(empty_home: Path) -> None:
    file = empty_home / ".config" / "aix" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('timezone = "Europe/Berlin"\nledger = "~/histories"\n')
    config = load_config(environ={})
    assert config.timezone.key == "Europe/Berlin"
    assert config.ledger == empty_home / "histories"
    assert config.settings["ledger"].origin == str(file)


def test_a_relative_ledger_starts_from_the_files_folder(tmp_path: Path) -> None:
    file = tmp_path / "project" / "aix.toml"
    file.parent.mkdir()
    file.write_text('ledger = "build/ledger"\n')
    assert load_config(file, environ={}).ledger == tmp_path / "project" / "build" / "ledger"
    assert load_config(environ={"AIX_CONFIG": str(file)}).ledger == tmp_path / "project" / "build" / "ledger"


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "aix.toml"
    file.write_text('ledger = "from-file"\ntimezone = "Asia/Kolkata"\n')
    monkeypatch.chdir(tmp_path)
    config = load_config(file, environ={"AIX_LEDGER": "from-environment", "AIX_TIMEZONE": ""})
    assert config.ledger == tmp_path / "from-environment"
    assert config.settings["ledger"].origin == "AIX_LEDGER"
    assert config.timezone.key == "Asia/Kolkata"


@pytest.mark.parametrize(
    ("content", "message", "remedy"),
    [
        ("ledger = ", "this is not TOML", "at end of document"),
        ('ledgr = "x"', "there is no setting 'ledgr'", "use ledger"),
        ("ledger = 7", "ledger must be text, not 7", 'ledger = "'),
        ('ledger = ""', "ledger cannot be ''", "name a folder"),
        ('ledger = "~nobody-of-this-name/x"', "ledger cannot be '~nobody", "write the path in full"),
        ('ledger = "a\\u0000b"', "ledger cannot be", "name a folder"),
        ('timezone = "Europe/Berlyn"', "timezone cannot be 'Europe/Berlyn'", "Europe/Berlin"),
        ('timezone = "../etc/passwd"', "timezone cannot be '../etc/passwd'", "Europe/Berlin"),
        ('auto_import = "yes"', "auto_import cannot be 'yes'", "use terminal, always or never"),
        ("embedding_command = 'embed \"texts'", "embedding_command cannot be", "close its quotes"),
        ('embedding_model = " x"', "embedding_model cannot be ' x'", "use a name on one line"),
        ("auto_import = true", "auto_import must be text, not True", 'auto_import = "'),
        ("\xff", "this is not TOML", ""),
    ],
)
def test_a_wrong_setting_is_named_with_its_place_and_remedy(
    tmp_path: Path, content: str, message: str, remedy: str
) -> None:
    file = tmp_path / "aix.toml"
    file.write_text(content, encoding="latin-1")
    with pytest.raises(ConfigError) as caught:
        load_config(file, environ={})
    assert str(file) in str(caught.value)
    assert message in str(caught.value)
    assert remedy in f"{caught.value} {caught.value.remedy}"


def test_a_file_that_is_named_must_exist(tmp_path: Path) -> None:
    process = run_aix("--config", str(tmp_path / "absent.toml"), "config")
    assert process.returncode == 2
    assert "absent.toml" in process.stderr


def test_aix_config_shows_what_is_in_force(tmp_path: Path) -> None:
    file = tmp_path / "aix.toml"
    file.write_text('timezone = "Europe/Berlin"\n')
    process = run_aix("--config", str(file), "config", "--json", AIX_LEDGER=str(tmp_path / "ledger"))
    rows = {row["setting"]: (row["value"], row["origin"]) for row in json.loads(process.stdout)}
    assert rows == {
        "config": (str(file), "exists"),
        "ledger": (str(tmp_path / "ledger"), "AIX_LEDGER"),
        "timezone": ("Europe/Berlin", str(file)),
        "prices": ("", "default"),
        "personas": ("", "default"),
        "redact_names": ("", "default"),
        "embedding_command": ("", "default"),
        "embedding_model": ("", "default"),
        "auto_import": ("terminal", "default"),
    }


def test_the_default_zone_needs_no_time_zones_of_the_system() -> None:
    assert run_aix("config", PYTHONTZPATH="").returncode == 0
