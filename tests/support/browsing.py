"""A page in headless Chromium, with everything that it asks for and says."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ACTING = [
    "<script>window.ran = 1</script>",
    '<img src="https://example.invalid/a.png" onerror="window.ran = 2">',
    "\"><svg onload='window.ran = 3'>",
    "</code></details></option></select></style></script><script>window.ran = 4</script>",
    "<link rel=stylesheet href=https://example.invalid/b.css><iframe src=https://example.invalid/></iframe>",
    '<meta http-equiv=refresh content="0;url=https://example.invalid/c">',
    "`<img src=x onerror=window.ran=5>`",
]
"""Texts that run something, or load something, wherever a page takes them for markup."""
needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(os.environ.get("AIX_NO_BROWSER") == "1", reason="AIX_NO_BROWSER=1 does without a browser"),
]


def start_browser() -> "Iterator[Browser]":
    """Start Chromium; root cannot use its sandbox."""
    program = os.environ.get("AIX_CHROMIUM") or shutil.which("chromium")
    if program is None:
        pytest.fail(
            "There is no Chromium: run tests/support/install_chromium.sh, or set AIX_NO_BROWSER=1 to skip this."
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=program, args=arguments)
        yield started
        started.close()


class Visit:
    """A page, with its requests and everything that it wrote to the console."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.requests: list[str] = []
        self.said: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))

    def open(self, path: Path) -> "Visit":
        """Load a page from its file."""
        self.page.goto(path.as_uri())
        return self

    def add_script(self) -> None:
        """Put a script into the page, as markup of a log would."""
        self.page.evaluate(
            "() => { const added = document.createElement('script'); added.textContent = 'window.ran = 6';"
            " document.body.append(added); }"
        )


def save_picture(page: "Page", name: str) -> None:
    """Write a picture of the page into the folder that AIX_SCREENSHOTS names, if it names one."""
    if "AIX_SCREENSHOTS" in os.environ:
        page.screenshot(path=Path(os.environ["AIX_SCREENSHOTS"], f"{name}.png"))
