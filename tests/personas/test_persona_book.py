"""Files of personas: what they say is read whole, and what cannot be meant is refused with its place."""

from pathlib import Path

import pytest

from aix.errors import PersonasFileError
from aix.personas.persona_book import read_personas

WHOLE = """
[personas.seller]
name = "Seller"
soul = "Keeps the shop."
emoji = "S"
model = "big"
thinking = "high"
max_tokens = 100
temperature = 0.5
main = "shop-main"
credentials = []
tools.allow = ["Read"]
tools.ask = ["Bash(git push *)"]
tools.deny = ["Bash(rm *)"]
sandbox.read = ["workspace", "~/docs/"]
sandbox.write = ['C:\\work\\']
sandbox.hosts = ["*.Shop.example"]

[personas.bare]

[[mappings]]
persona = "seller"
origin = ["log", "chat"]
workspace = ["/srv/shop/", "~/shop"]

[[mappings]]
persona = "bare"
agent = "scout"
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "personas.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_all_that_a_file_says_is_read(tmp_path: Path) -> None:
    book = read_personas(write(tmp_path, WHOLE))
    seller = book.personas["seller"]
    assert (seller.name, seller.soul, seller.emoji, seller.main) == ("Seller", "Keeps the shop.", "S", "shop-main")
    assert (seller.model, seller.thinking, seller.max_tokens, seller.temperature) == ("big", "high", 100, 0.5)
    assert seller.lists == {
        "allow": ("Read",),
        "ask": ("Bash(git push *)",),
        "deny": ("Bash(rm *)",),
        "credential": (),
        "read": ("workspace", "~/docs/"),
        "write": ("C:\\work\\",),
        "host": ("*.Shop.example",),
    }
    assert book.personas["bare"].lists == {}
    home = Path.home().as_posix()
    assert [mapped.rows() for mapped in book.mappings] == [
        [(origin, folder, None) for origin in ("log", "chat") for folder in ("/srv/shop", f"{home}/shop")],
        [(None, None, "scout")],
    ]


def test_the_digest_follows_the_file_and_the_home_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_home = WHOLE.replace("~/", "/home/ada/")
    digests = [read_personas(write(tmp_path, text)).digest for text in (WHOLE, without_home, f"{WHOLE}# more\n")]
    assert len({*digests}) == 3
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_personas(write(tmp_path, WHOLE)).digest != digests[0]
    assert read_personas(write(tmp_path, without_home)).digest == digests[1]


def test_without_a_file_there_is_nobody() -> None:
    book = read_personas(None)
    assert (book.digest, book.personas, book.mappings) == (None, {}, ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[personas.a", "this is not TOML in UTF-8"),
        (b"[personas.a]\nname = '\xff'", "this is not TOML in UTF-8"),
        ("[persona.a]", "there is no setting 'persona'; use [personas.ID] and [[mappings]]"),
        ("[personas.a]\ntool.deny = []", "persona 'a': there is no setting 'tool'; did you mean tools?"),
        ("[personas.a]\ntools.denied = []", "persona 'a': there is no setting 'tools.denied'; did you mean deny?"),
        ("[personas.a]\ntools.deny = 'Bash'", "persona 'a': tools.deny must be a list of texts, not text"),
        ("[personas.a]\nname = 2026-01-01", "name must be text, not a date"),
        ("[personas.a]\nmax_tokens = 0", "Expected `int` >= 1"),
        ("[personas.a]\ntools.deny = ['Bash(rm']", "'Bash(rm' in deny of a is no rule; write Tool or Tool(specifier)"),
        ("[personas.a]\ntools.allow = ['(x)']", "is no rule"),
        (
            "[personas.a]\nsandbox.read = ['docs']",
            "'docs' in sandbox.read of a must be `workspace` or an absolute path",
        ),
        ('[personas.a]\nname = "x\\u0000y"', "control characters"),
        ('[personas."a\\u0007"]', "control characters"),
        ('[personas."a\\u202e"]', "must be a name on one line"),
        ('[personas." a"]', "must be a name on one line"),
        ("[[mappings]]\npersona = 'a'\nagent = 'b'", "mapping 1: the persona 'a' is not described"),
        (
            "[personas.seller]\n[[mappings]]\npersona = 'seler'\nagent = 'b'",
            "mapping 1: the persona 'seler' is not described; did you mean seller?",
        ),
        ("[personas.a]\n[[mappings]]\npersona = 'a'", "mapping 1: it fits every session"),
        ("[personas.a]\n[[mappings]]\npersona = 'a'\norigin = []", "Expected `array` of length >= 1"),
        ("[personas.a]\n[[mappings]]\nworkspace = '/x'", "mapping 1: Object missing required field `persona`"),
        ("personas = 3", "write personas as [personas.ID], and mappings as [[mappings]]"),
        ("personas.a = 3", "persona 'a': it must be a table, not a number"),
        ("[[mappings]]\npersona = 3", "persona must be text, not a number"),
        (
            "[personas.a]\n[[mappings]]\npersona = 'a'\nworkspace = 'shop'",
            "mapping 1: the workspace 'shop' must be an abs",
        ),
        ("[personas.a]\nsandbox.read = ['/srv/../etc']", "'/srv/../etc' in sandbox.read of a must be"),
        ("[personas.a]\nsandbox.read = ['~nobody/x']", "'~nobody/x' in sandbox.read of a must be"),
        (
            "[personas.a]\nsandbox.hosts = ['https://x/']",
            "'https://x/' of a is no host; write shop.example or *.shop.example",
        ),
        ("[personas.a]\ncredentials = ['$GH_TOKEN']", "'$GH_TOKEN' of a is no credential; write SHOP_TOKEN"),
        (f"[personas.a]\ntools.deny = {['Bash'] * 5_001}", "more than 5,000 entries"),
        (
            f"[personas.a]\n[[mappings]]\npersona = 'a'\norigin = {['x'] * 100}\nagent = {['y'] * 100}",
            "more than 5,000 entries",
        ),
        (b"#" * (2**20 + 1), "it is larger than 1 MiB"),
        ("a = " + "[" * 100_000, "this is not TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str | bytes, problem: str) -> None:
    with pytest.raises(PersonasFileError) as caught:
        read_personas(write(tmp_path, text))
    assert str(tmp_path / "personas.toml") in str(caught.value)
    assert problem in str(caught.value)
    assert caught.value.remedy


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PersonasFileError, match="No such file") as caught:
        read_personas(tmp_path / "absent.toml")
    assert "AIX_PERSONAS" in str(caught.value.remedy)
