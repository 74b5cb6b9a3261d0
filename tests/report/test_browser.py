"""The report in a browser: it opens offline without an error, shows what it should, and answers to the reader."""

import json
import shutil

import pytest

from ldhd.report.html import write_report
from report.samples import BENCH, LEDGER, PREDICTIONS, config_of, record_of, trace_of, write_run, write_sample

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium")
EVIL = "</script><img src=x onerror=hacked=1><script>hacked=1</script>"


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_sample(folder / "runs")
    evil = config_of("division").model_copy(update={"position_options": {"rpe-square": {"hard": EVIL}}})
    record = record_of(evil, command=EVIL).model_copy(update={"version": EVIL, "model": EVIL})
    write_run(folder / "runs", evil, record, trace=trace_of() | {"output": EVIL})
    given = {"ledger": LEDGER, "predictions": PREDICTIONS, "benchmarks": [BENCH]}
    return write_report([folder / "runs"], folder / "report.html", title=EVIL, **given).path


@pytest.fixture
def visit(browser, report):
    """Opens the report; at the end, nothing but the file was asked for and nothing went wrong."""
    visits = []

    def open_page(width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.route("http*://**", lambda route: route.abort())
        page.goto(report.as_uri())
        visits.append((context, page, asked, wrong))
        return page

    yield open_page
    for context, page, asked, wrong in visits:
        assert page.evaluate("typeof hacked") == "undefined"
        assert wrong == []
        assert {url for url in asked if not url.startswith("data:")} == {report.as_uri()}
        context.close()


def wait_for(page, truth):
    """Until something holds on the page, whose own rules forbid playwright's way of waiting."""
    for _ in range(100):
        if page.evaluate(truth):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never on the page: {truth}")


def draw_all(page):
    """Scroll through the page, so that every figure on it is drawn."""
    for figure in page.query_selector_all("[data-figure]"):
        figure.scroll_into_view_if_needed()
    wait_for(page, "[...document.querySelectorAll('[data-figure] .canvas')].every(c => c.data)")


def visible(page, figure, name):
    """What plotly draws of the traces of this group."""
    return page.evaluate(
        """([figure, name]) => document.querySelectorAll('[data-figure] .canvas')[figure].data
             .filter(trace => (trace.legendgroup || '').startsWith(name))
             .map(trace => [trace.meta, trace.visible !== false && trace.visible !== 'legendonly'])""",
        [figure, name],
    )


def test_curves_anchors_and_ledger_are_drawn(visit):
    page = visit()
    draw_all(page)
    assert page.locator("#task-copy .scatterlayer .trace").count() > 0
    assert page.locator("#task-copy .heatmaplayer image").count() > 0
    assert page.locator("#task-copy .picture .arc").count() > 0
    assert page.locator("#task-copy .picture .needed").count() == 5
    assert page.locator("#matrix .spark polyline").count() == 4
    assert page.locator("#ledger .claim").count() == 2
    assert page.locator("#predictions tbody tr").count() == 3
    assert page.locator("#bench tbody tr").count() == 4


def test_a_click_in_the_legend_takes_an_embedding_away_and_brings_it_back(visit):
    page = visit()
    draw_all(page)
    legend = page.locator("#task-copy [data-figure]").first.locator(".legendtoggle").nth(2)
    legend.click()
    page.wait_for_timeout(600)  # plotly waits for a second click before it acts on the first
    assert visible(page, 0, "rpe (small-2)") == [["band", False], ["seeds", False], ["mean", False]]
    assert all(shown for _, shown in visible(page, 0, "rpe-square (small)"))
    page.locator("#task-copy button[data-role=seeds]").click()
    page.locator("#task-copy button[data-role=seeds]").click()
    assert visible(page, 0, "rpe (small-2)")[1] == ["seeds", False]
    legend.click()
    page.wait_for_timeout(600)
    assert visible(page, 0, "rpe (small-2)") == [["band", True], ["seeds", True], ["mean", True]]


def test_seeds_and_bands_can_be_hidden(visit):
    page = visit()
    draw_all(page)
    page.locator("#task-copy button[data-role=seeds]").click()
    assert visible(page, 0, "rpe (small-2)") == [["band", True], ["seeds", False], ["mean", True]]
    page.locator("#task-copy button[data-role=band]").click()
    assert visible(page, 0, "rpe (small-2)") == [["band", False], ["seeds", False], ["mean", True]]


def test_a_choice_of_scale_changes_the_digits(visit):
    page = visit()
    draw_all(page)
    longest = "() => document.querySelectorAll('#task-copy [data-figure] .canvas')[1].data.map(t => t.x.length)"
    assert max(page.evaluate(longest)) == 18  # the band of nine tokens, there and back
    page.locator("#task-copy [data-figure] select").select_option("scale 5")
    assert max(page.evaluate(longest)) == 12


def test_a_point_leads_to_its_run(visit):
    page = visit()
    draw_all(page)
    target = page.evaluate(
        """() => { const canvas = document.querySelector('#task-copy [data-figure] .canvas');
             const trace = canvas.data.find(t => t.meta === 'seeds');
             canvas.emit('plotly_click', {points: [{customdata: trace.customdata[0]}]});
             return trace.customdata[0]; }"""
    )
    wait_for(page, "location.hash.startsWith('#run-')")
    row = page.locator(f"#{target}")
    row.wait_for(state="visible")
    assert target.removeprefix("run-") in row.inner_text()
    cell = row.locator("xpath=ancestor::details[1]")
    assert "ldhd run copy" in cell.locator("pre").first.inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_links_of_the_navigation_stop_at_their_heading(visit, width):
    """Figures above the heading that are drawn on the way leave it where it is."""
    page = visit(width)
    for number in range(page.locator("nav a").count()):
        page.evaluate(f"location.hash = ''; location.hash = document.querySelectorAll('nav a')[{number}].hash")
        top = f"document.querySelectorAll('section > h2')[{number}].getBoundingClientRect().top"
        ends = "scrollY + innerHeight >= document.documentElement.scrollHeight - 1"
        wait_for(page, f"(0 <= {top} && {top} < 120) || (0 <= {top} && {ends})")
        page.wait_for_timeout(300)
        assert page.evaluate(f"{top} >= 0 && ({top} < 120 || {ends})"), number


def test_the_string_follows_its_choices(visit):
    page = visit()
    box = page.locator("#task-copy [data-traces]")
    boxes = box.locator(".token").count()
    assert boxes == len("b31415=31415e")
    assert box.locator(".said").inner_text() == "The output is right."
    before = box.locator(".look").count()
    box.locator("select[name=head]").select_option("0.0")
    assert box.locator(".look").count() < before
    box.locator("select[name=view]").select_option("terms")
    assert box.locator(".look").count() > 0
    box.locator("select[name=run]").select_option("1")
    assert box.locator(".said").inner_text() == "First error at answer token 4."
    assert box.locator(".arc").count() == 0
    assert box.locator(".wrong").text_content() == "✗1"


def test_the_ledger_is_filtered(visit):
    page = visit()
    page.locator("#ledger button", has_text="1 holds").click()
    assert page.locator("#ledger .claim:visible").count() == 1
    assert "fails as printed" in page.locator("#ledger .claim:visible").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(visit, scheme):
    page = visit(390, 844, color_scheme=scheme)
    draw_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    wide = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 391
             && !e.closest('.scroll, .picture, pre')).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert wide == []


def test_figures_follow_the_colour_scheme_and_print_light(visit):
    page = visit(color_scheme="light")
    draw_all(page)
    ink = "() => document.querySelector('[data-figure] .canvas').layout.font.color"
    light = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    wait_for(page, f"({ink})() !== '{light}'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 25, 27)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ink) == light
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(ink) != light
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".controls:visible").count() == 0


def test_what_users_wrote_is_shown_as_text(visit):
    page = visit()
    draw_all(page)
    assert page.locator("h1").inner_text() == EVIL
    assert page.title() == EVIL
    assert json.dumps(EVIL)[1:-1] in page.locator("#runs").inner_html().replace("&lt;", "<").replace("&gt;", ">")
