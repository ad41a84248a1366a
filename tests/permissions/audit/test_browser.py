"""The HTML report in headless Chromium: its filters work, and nothing of a log runs or is loaded.

`make test-browser` runs these tests, and AIX_NO_BROWSER=1 skips them. Without a browser they fail: a page that nobody
opened proves nothing. AIX_SCREENSHOTS=FOLDER writes pictures of the page there, in light, dark and at phone width.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aix.cli.audit import make_report, write_report
from aix.query.values import find_zone
from tests.permissions.audit.acme import TOOLS, install_acme, write_called
from tests.support.browsing import ACTING, Visit, needs_browser, save_picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs_browser
PROJECT = """case when length(c.tool_name) < 5 then '/srv/mill' else '<b>"loom' end as project"""
BY_PROJECT = (
    TOOLS.replace("-- column calls:", "-- column project: VARCHAR; where it was called\n-- column calls:")
    .replace("  count(*) as calls,", f"  {PROJECT},\n  count(*) as calls,")
    .replace("not there.\n", "not there.\n-- remedy: Deny `it`.\n")
)
CALLED = ["Bash", "Edit", "Task", *ACTING]
WIDTHS = {"light": 1200, "dark": 1200, "phone": 390}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Write the report of a ledger whose calls have markup as their names."""
    folder = tmp_path_factory.mktemp("page")
    install_acme(folder / "packages", "page-audits", "page", tools=BY_PROJECT)
    zone = find_zone("UTC")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder / "packages")
        ledger = write_called(folder / "ledger", *CALLED)
        write_report(make_report(ledger, "page", {}, (), None, None, zone), "html", folder / "audit.html", zone)
        yield folder / "audit.html"


def shown(visit: Visit) -> list[str]:
    """Return the severities of the findings that can be seen."""
    visible = [each for each in visit.page.locator("article").all() if each.is_visible()]
    return sorted(each.get_attribute("data-severity") or "" for each in visible)


@pytest.fixture
def visit(browser: "Browser", report: Path) -> "Iterator[Visit]":
    page = browser.new_page()
    yield Visit(page).open(report)
    page.close()


def test_nothing_of_a_log_runs_and_no_request_leaves(visit: Visit, report: Path) -> None:
    page = visit.page
    page.get_by_role("button", name="evidence").click()
    assert page.locator("article dl").first.is_visible()
    assert page.evaluate("window.ran") is None
    assert visit.requests == [report.as_uri()]
    assert visit.said == []
    assert page.locator("img, iframe, svg, link, base, object, embed").count() == 0
    texts = {each.inner_text() for each in page.locator("article details code").all()}
    assert set(CALLED) <= texts
    assert page.locator(".fix code").first.inner_text() == "it"


def test_the_policy_stops_a_script_that_is_put_into_the_page(visit: Visit) -> None:
    visit.add_script()
    assert visit.page.evaluate("window.ran") is None
    assert "Content Security Policy" in " ".join(visit.said)


def test_findings_are_filtered_by_severity_and_project(visit: Visit) -> None:
    page = visit.page
    everything = ["high"] * (1 + len(ACTING)) + ["low", "medium"]
    assert shown(visit) == everything
    page.get_by_label("Severity").select_option("medium")
    assert shown(visit) == ["high"] * (1 + len(ACTING)) + ["medium"]
    assert not page.locator("#low").is_visible()
    page.get_by_label("Project").select_option(label="/srv/mill")
    assert shown(visit) == ["high", "medium"]
    assert page.locator("#shown").inner_text() == f"2 of {len(CALLED)} findings"
    page.get_by_label("Severity").select_option("low")
    page.get_by_label("Project").select_option(label='<b>"loom')
    assert shown(visit) == ["high"] * len(ACTING)
    assert not page.locator("#medium").is_visible()
    page.get_by_label("Project").select_option("")
    assert shown(visit) == everything


def test_contents_lead_to_every_section(visit: Visit) -> None:
    links = [each.get_attribute("href") or "" for each in visit.page.locator("nav a").all()]
    assert {"#high", "#medium", "#low", "#checks", "#inventories"} <= set(links)
    assert [visit.page.locator(link).count() for link in links] == [1] * len(links)


def test_everything_is_there_without_scripts_and_on_paper(browser: "Browser", report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    visit = Visit(context.new_page()).open(report)
    assert len(shown(visit)) == len(CALLED)
    assert not visit.page.locator("form").is_visible()
    evidence = visit.page.locator("article dl").first
    assert not evidence.is_visible()
    visit.page.emulate_media(media="print")
    assert evidence.is_visible()
    context.close()


@pytest.mark.parametrize("look", WIDTHS)
def test_the_page_fits_the_screen_in_its_colours(browser: "Browser", report: Path, look: str) -> None:
    context = browser.new_context(
        color_scheme="dark" if look == "dark" else "light", viewport={"width": WIDTHS[look], "height": 1400}
    )
    page = Visit(context.new_page()).open(report).page
    assert page.evaluate("document.documentElement.scrollWidth") == WIDTHS[look]
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(22, 24, 28)" if look == "dark" else "rgb(255, 255, 255)")
    save_picture(page, f"audit_{look}")
    context.close()
