"""The pages in a real browser: nothing is asked for, every width can be read, axe finds nothing serious."""

import contextlib
import json
import shutil

import numpy as np
import pytest

from augment_cli.pages.figures import write_adaptation
from augment_cli.pages.judging import write_judging
from augment_cli.pages.report import write_report
from augment_cli.reports import verdicts
from eval.results import tables
from eval.results.page import as_page as scores_page
from tests.helpers.made_stores import HOSTILE, hostile_store
from tests.helpers.stored_results import REGISTRY, sts_score, write_model
from train.extras.plot import as_page as run_page

pytestmark = pytest.mark.slow
_LONGEST = 60_000  # milliseconds of one step in the browser


@contextlib.contextmanager
def opened():
    """A headless Chromium; the test is skipped where the machine has none, or no Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        options = {"executable_path": browser_path, "args": ["--no-sandbox"], "timeout": _LONGEST}
        browser = driver.chromium.launch(**options)
        yield browser
        browser.close()


@contextlib.contextmanager
def shown(browser, address, width=360, scheme="light"):
    """A page of a width and a colour scheme; at its end, that it had no fault and asked for nothing else."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    context.set_default_timeout(_LONGEST)
    page, faults, requests = context.new_page(), [], []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))

    def refuse(dialog):
        faults.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    yield page
    assert faults == [] and {url for url in requests if not url.startswith("blob:")} == {address}
    context.close()


def test_what_is_judged_stays_and_is_saved_for_the_command(store, tmp_path):
    write_report(store, tmp_path / "report.html")
    address = (tmp_path / "report.html").as_uri()
    with opened() as browser, shown(browser, address) as page:
        for key in ("j", "g", "j", "w"):
            page.keyboard.press(key)
        assert page.locator("#judged").inner_text() == "2 judged"
        assert "You judged 2: 1 good" in page.locator(".wilson").first.inner_text()
        page.reload()
        assert page.locator("#judged").inner_text() == "2 judged"
        with page.expect_download() as download:
            page.locator("#save").click()
        download.value.save_as(tmp_path / "judged.json")
    kept = json.loads((tmp_path / "judged.json").read_text("utf-8"))
    assert [one["verdict"] for one in kept["judgements"]] == ["good", "wrong"]
    (counted,) = verdicts.summary(verdicts.read([tmp_path / "judged.json"]))
    assert (counted["stage"], counted["read"], counted["good"], counted["wrong"]) == ("una", 2, 1, 1)
    assert counted["stale"] is None  # the page says which version was read


def test_keys_judge_rows_blind_and_the_file_that_is_saved_is_counted(store, tmp_path):
    judgements = [one for stage in ("una", "una.1") for one in verdicts.sample(store, stage, 3)]
    write_judging(store, tmp_path / "rows.html", judgements)
    with opened() as browser, shown(browser, (tmp_path / "rows.html").as_uri()) as page:
        for key in ("j", "w", "n", "j", "g", "Escape", "j", "g"):  # a note may have letters that are keys
            page.keyboard.press(key)
        assert page.locator("#judged").inner_text() == "2 of 6 judged"
        assert page.locator(".origin:visible").count() == 0
        page.locator("#origin").press("Space")
        assert page.locator(".origin:visible").count() == 2
        page.reload()
        assert page.locator("#judged").inner_text() == "2 of 6 judged"
        assert page.locator("input[type=text]").first.input_value() == "jg"
        with page.expect_download() as download:
            page.locator("#save").click()
        assert download.value.suggested_filename == "rows.judged.jsonl"
        download.value.save_as(tmp_path / "saved.jsonl")
    read = verdicts.read([tmp_path / "saved.jsonl"])
    assert [one.verdict for one in read] == ["wrong", "good", None, None, None, None]
    assert read[0].note == "jg" and verdicts.read_elsewhere(store, read) == {}


def pages_of(tmp_path):
    """A page of each kind, each with text that would like to be markup."""
    hostile = hostile_store(tmp_path)
    write_report(hostile, tmp_path / "report.html")
    write_judging(hostile, tmp_path / "rows.html", verdicts.sample(hostile, "una", 40))
    generator = np.random.default_rng(0)
    gold = generator.normal(size=50)
    items = {"gold": gold, "similarity": gold + generator.normal(size=50)}
    model = write_model(tmp_path / "results", HOSTILE, {"sts12": sts_score(0.5, items=items)})
    (tmp_path / "scores.html").write_text(scores_page(tables.build([model], REGISTRY)), "utf-8")
    events = [{"event": "step", "step": n, "loss": 1 / n, "rate": 0.1} for n in range(1, 60)]
    events += [{"event": "dev", "step": n, "stsb_dev": n / 90} for n in (20, 40, 59)]
    events += [{"event": "warning", "step": 9, "message": HOSTILE}]
    (tmp_path / "run.html").write_text(run_page(HOSTILE, events), "utf-8")
    texts = [f"{HOSTILE} {n}" for n in range(60)]
    said = {"message": HOSTILE, "scores": {"half": {"before": 0.1, "best": 0.2}}, "following": [HOSTILE]}
    vectors = (generator.normal(size=(60, 8)) for _ in range(2))
    adaptation = write_adaptation(tmp_path, HOSTILE, said, texts, *vectors)
    others = ("report.html", "rows.html", "scores.html", "run.html")
    return [adaptation, *(tmp_path / name for name in others)]


def test_every_page_fits_its_width_and_does_nothing_that_a_text_says(tmp_path):
    paths = pages_of(tmp_path)
    with opened() as browser:
        for path in paths:
            for width in (360, 900, 1600):
                with shown(browser, path.as_uri(), width) as page:
                    # A table that scrolls has shadows, a name, the focus.
                    for table in page.locator(".wide").all():
                        assert "gradient" in table.evaluate("one => getComputedStyle(one).backgroundImage")
                        assert table.get_attribute("aria-labelledby")
                        assert table.get_attribute("tabindex") == "0"
                    assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
                    assert "<script>alert(1)</script>" in page.locator("body").inner_text()


def test_axe_finds_nothing_serious(tmp_path):
    reason = "no axe: pip install axe-playwright-python"
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=reason)
    paths = pages_of(tmp_path)
    with opened() as browser:
        for path in paths:
            for scheme in ("light", "dark"):
                with shown(browser, path.as_uri(), 800, scheme) as page:
                    found = axe.Axe().run(page).response["violations"]
                serious = [one for one in found if one["impact"] in ("moderate", "serious", "critical")]
                said = [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in serious]
                assert said == [], f"{path.name}, {scheme}"
