"""Take the pictures of reports in `docs/pictures/reports/`.

    python docs/report_pictures.py

makes every report of the sample of `aix demo`, and opens its page in headless Chromium: light, dark, and on a phone.
AIX_CHROMIUM names the browser where it is not `chromium`.
"""

import io
import os
import shutil
import tempfile
from datetime import UTC, date
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

import aix
from aix.pipeline.run import Settings, import_histories
from aix.reading.ledger import Ledger
from aix.reports.html import html_lines
from aix.reports.library import find_report, report_files
from aix.reports.report import make_report
from aix_importers.sample import write_sample

PICTURES = Path(__file__).parent / "pictures" / "reports"
LOOKS = {"light": (1000, 1250), "dark": (1000, 1250), "phone": (390, 800)}
_END = date(2026, 11, 17)
_COLOURS = 128
_WIDTH = 700
_SESSION = "select session_label from v_session_turns group by session_label order by count(*) desc, 1 limit 1"


def main() -> None:
    """Take them all."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        logs, ledger = Path(folder, "logs"), Path(folder, "ledger")
        write_sample(logs, _END)
        import_histories(ledger, [logs], Settings(jobs=0))
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        program = os.environ.get("AIX_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        PICTURES.mkdir(parents=True, exist_ok=True)
        with aix.open(ledger) as opened:
            for name in report_files():
                page = Path(folder, f"{name}.html")
                page.write_text(_page(opened, name), "utf-8")
                for look in LOOKS:
                    _take(browser, page, look)
        browser.close()


def _page(ledger: Ledger, name: str) -> str:
    definition = find_report(name)
    [[longest]] = ledger.sql(_SESSION).rows()
    parameters = {"session": longest} if definition.about == "session" else {}
    return "\n".join(html_lines(make_report(name, definition, ledger, parameters, "UTC"), UTC))


def _take(browser: Browser, page_file: Path, look: str) -> None:
    width, height = LOOKS[look]
    size: ViewportSize = {"width": width, "height": height}
    page = browser.new_page(viewport=size, color_scheme="dark" if look == "dark" else "light")
    page.goto(page_file.as_uri())
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    if width > _WIDTH:
        picture = picture.resize((_WIDTH, height * _WIDTH // width), Image.Resampling.LANCZOS)
    small = picture.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(PICTURES / f"{page_file.stem}_{look}.png", optimize=True)
    page.close()


if __name__ == "__main__":
    main()
