"""Screens in the README and the tutorial: commands that really run, on the ledger of `aix demo`.

python docs/screens.py             run the commands of the pages, write their output below them, draw the pictures
python docs/screens.py --check     say which pages show something else than the commands do, and exit with 1

A page's `console` blocks are run from top to bottom, in one folder, on a terminal of 80 columns. A line that starts
with `$ ` is a command; all lines up to the next one are its output.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.support.command_line import run_on_terminal

_ROOT = Path(__file__).parent.parent
_FOLDER = Path("/tmp/aix-screens")  # noqa: S108 - made and removed here, for nobody but developers
PAGES = ("README.md", "docs/tutorial.md")
_DEMO = "aix demo demo --end 2026-11-16"
"""The demo of all screens, on a fixed day, so that they change only when AIX does."""
_NOW = "2026, 11, 17, 12"
"""The time of the clock on all screens, for the same reason."""
_AIX = f"""#!{sys.executable}
from datetime import UTC, datetime
from aix.query import dates
dates.present = lambda: datetime({_NOW}, tzinfo=UTC)
from aix.cli import program
program()
"""
_PICTURES = {
    "overview": "aix overview",
    "cost": "aix cost --by day,model --limit 12",
    "compactions": "aix compactions",
    "audit": "aix audit --severity high",
}
_PICTURE_WIDTH = 92
_PAGE_WIDTH = 80
_BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)
_STYLE = re.compile(r"\x1b\[[\d;]*m")
_COLOURS = TerminalTheme(
    (28, 31, 38),
    (208, 212, 220),
    [
        (28, 31, 38),
        (240, 98, 98),
        (126, 200, 128),
        (232, 182, 80),
        (104, 160, 240),
        (200, 140, 230),
        (90, 200, 200),
        (208, 212, 220),
    ],
)
# Without the web font of rich's own frame: a page that shows the picture asks no other server for anything.
_FRAME = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix, .{unique_id}-title {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}}
.{unique_id}-matrix {{ font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-size: 16px; }}
{styles}
</style>
<defs>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> int:
    """Write or check the screens of all pages; draw the pictures only when writing."""
    is_check = "--check" in sys.argv[1:]
    stale = []
    for name in PAGES:
        path = _ROOT / name
        text = path.read_text("utf-8")
        current = page_as_run(text)
        if current != text:
            stale.append(name)
            if not is_check:
                path.write_text(current, "utf-8")
    sys.stdout.writelines(f"{'out of date' if is_check else 'wrote'}: {name}\n" for name in stale)
    if not is_check:
        _draw_pictures()
    return 1 if stale and is_check else 0


def page_as_run(text: str) -> str:
    """Return a page with the output that its commands have now."""
    with _workplace():
        shown(_DEMO, _PAGE_WIDTH)
        return _BLOCK.sub(lambda block: "".join(map(_as_run, _commands(block[1]))), text)


def _commands(block: str) -> list[str]:
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def _as_run(command: str) -> str:
    return f"$ {command}\n{_STYLE.sub('', shown(command, _PAGE_WIDTH))}"


@contextmanager
def _workplace() -> Iterator[None]:
    """Work in an empty folder that is also the home folder, with the demo's ledger as the configured one.

    Ids of findings depend on the places of settings files, so that the folder has the same name every time.
    """
    before = Path.cwd()
    shutil.rmtree(_FOLDER, ignore_errors=True)
    programs = _FOLDER / ".programs"
    programs.mkdir(mode=0o700, parents=True)
    (programs / "aix").write_text(_AIX, "utf-8")
    (programs / "aix").chmod(0o700)
    os.environ.update(
        HOME=str(_FOLDER),
        AIX_LEDGER=str(_FOLDER / "demo" / "ledger"),
        AIX_TIMEZONE="UTC",
        AIX_AUTO_IMPORT="never",
        PATH=f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    )
    os.chdir(_FOLDER)
    try:
        yield
    finally:
        os.chdir(before)
        shutil.rmtree(_FOLDER, ignore_errors=True)


def shown(command: str, columns: int) -> str:
    """Run a command on a terminal of its own, and return everything that the terminal was sent."""
    # The demo refuses to replace the configured ledger.
    script = f"unset AIX_LEDGER; {command}" if command.startswith("aix demo") else command
    sent, code = run_on_terminal("/bin/sh", "-c", script, columns=columns)
    text = sent.replace("\r\n", "\n").replace(str(Path.cwd()), "~")
    if code not in (0, 1):  # 1: an audit has findings
        sys.exit(f"{command} failed:\n{text}")
    return text


def _draw_pictures() -> None:
    folder = _ROOT / "docs" / "pictures"
    folder.mkdir(exist_ok=True)
    with _workplace():
        shown(_DEMO, _PICTURE_WIDTH)
        for name, command in _PICTURES.items():
            (folder / f"{name}.svg").write_text(_drawn(command, shown(command, _PICTURE_WIDTH)), "utf-8")


def _drawn(command: str, screen: str) -> str:
    """Draw a terminal with the command and its output."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=_PICTURE_WIDTH, file=nowhere, force_terminal=True, highlight=False)
        console.print(Text(f"$ {command}", style="bold"))
        console.print(Text.from_ansi(screen.rstrip("\n")))
        drawing = console.export_svg(title="", theme=_COLOURS, code_format=_FRAME, unique_id="aix")
    return "\n".join(line.rstrip() for line in drawing.splitlines()) + "\n"


if __name__ == "__main__":
    sys.exit(main())
