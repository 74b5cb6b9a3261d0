"""The report in a browser: it opens offline without an error, shows what it should, and answers to the reader."""

import json
from functools import partial

import pytest

from ldhd.report.html import write_report
from report.chromium import needs_chromium, wait_for
from report.samples import BENCH, LEDGER, PREDICTIONS, config_of, record_of, trace_of, write_run, write_sample

pytestmark = needs_chromium
EVIL = "</script><img src=x onerror=hacked=1><script>hacked=1</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def report(folder):
    write_sample(folder / "runs")
    evil = config_of("division").model_copy(update={"position_options": {"rpe-square": {"hard": EVIL}}})
    record = record_of(evil, command=EVIL).model_copy(update={"version": EVIL, "model": EVIL})
    write_run(folder / "runs", evil, record, trace=trace_of() | {"output": EVIL})
    given = {"ledger": LEDGER, "predictions": PREDICTIONS, "benchmarks": [BENCH]}
    return write_report([folder / "runs"], folder / "report.html", title=EVIL, **given).path


@pytest.fixture
def visit(visit, report):
    """Opens the report."""
    return partial(visit, report)


def draw(page, *sections):
    """Visit sections and open their lists, so that every figure of what is chosen in them is drawn."""
    canvases = "[...document.querySelectorAll('section.active [data-figure] .canvas')]"
    undrawn = f"{canvases}.find(canvas => canvas.clientWidth && !canvas.data)"
    for name in sections:
        go(page, name)
        page.evaluate("document.querySelectorAll('section.active details').forEach(list => { list.open = true; })")
        wait_for(page, f"(figure => {{ figure?.scrollIntoView(); return !figure; }})({undrawn})")


def go(page, name):
    page.evaluate(f"location.hash = '{name}'")
    wait_for(page, f"document.getElementById('{name}').getBoundingClientRect().height > 0")


def visible(page, name):
    """What plotly draws on the chart of copy of the traces of this group."""
    return page.evaluate(
        """name => document.querySelector('#task-copy [data-figure] .canvas').data
             .filter(trace => trace.legendgroup === name)
             .map(trace => [trace.meta, trace.visible !== false && trace.visible !== 'legendonly'])""",
        name,
    )


def test_curves_anchors_and_ledger_are_drawn(visit):
    page = visit()
    draw(page, "task-copy", "bench")
    assert page.locator("#task-copy .scatterlayer .trace").count() > 0
    assert page.locator("#task-copy .heatmaplayer image").count() > 0
    assert page.locator("#task-copy .active .picture .arc").count() > 0
    assert page.locator("#task-copy .active .picture .needed").count() == 5
    assert page.locator("#heat td.cell").count() == 4
    assert page.locator("#ledger .claim").count() == 2
    assert page.locator("#predictions tbody tr").count() == 3
    assert page.locator("#bench tbody tr").count() == 4


def test_one_section_is_seen_at_a_time_and_all_are_printed(visit):
    page = visit()
    assert page.locator("main > section:visible").count() == 1
    assert page.locator("#overview .finding").is_visible()
    page.locator("nav a", has_text="copy").click()
    wait_for(page, "document.querySelector('#task-copy').clientHeight > 0")
    assert page.locator("main > section:visible").count() == 1
    page.go_back()
    wait_for(page, "document.querySelector('#overview').clientHeight > 0")
    page.emulate_media(media="print")
    assert page.locator("main > section:visible").count() == page.locator("main > section").count()


def test_the_front_page_is_an_independent_count(visit, folder):
    """The numbers of the front page, counted again from the files of the runs alone."""
    exact = {}
    for path in (folder / "runs").rglob("record.json"):
        record = json.loads(path.read_text())
        last = max(record["results"], key=lambda result: result["scale"])
        exact.setdefault((record["task"], record["position"]), []).append(last["exact"])
    page = visit()
    cells = {
        tuple(place): float(text)
        for *place, text in page.evaluate(
            """() => [...document.querySelectorAll('#heat tbody tr')].flatMap(row => [...row.cells].map((cell, index) =>
                 [row.cells[0].dataset.name, document.querySelectorAll('#heat thead th')[index].dataset.name,
                  cell.matches('.cell') && cell.querySelector('b').textContent])).filter(found => found[2])"""
        )
    }
    titles = {"rpe": "rpe RPE", "rpe-square": "rpe-square RPE-Square"}
    assert cells == {(t, titles[p]): round(100 * sum(v) / len(v), 1) for (t, p), v in exact.items()}
    assert page.locator("#overview .facts").inner_text().split()[:2] == [str(sum(map(len, exact.values()))), "runs"]


def test_the_heat_map_is_filtered_and_shows_other_measures(visit):
    page = visit()
    box, cells = page.locator("#heat-filter"), page.locator("#heat td.cell:visible")
    assert cells.count() == 4
    box.fill("copy")
    assert cells.count() == 2
    box.fill("copy rpe-square")
    assert cells.count() == 1
    assert cells.inner_text().split() == ["100", "at", "8"]
    page.locator("#heat-measure").select_option("seeds")
    assert cells.inner_text() == "3/3"
    page.locator("#heat-measure").select_option("factor")
    assert cells.inner_text().split() == ["≥", "2", "of", "2"]
    cells.locator("a").click()
    wait_for(page, "location.hash.startsWith('#cell-')")
    assert page.locator("article.config:visible h3").inner_text().startswith("RPE-Square")


def test_all_runs_are_searched(visit):
    page = visit()
    go(page, "runs")
    rows = page.locator("#runs-table tbody tr")
    assert rows.count() == 4
    page.locator("#runs-filter").fill("copy FAILS")
    assert rows.count() == 1
    assert "RPE" in rows.inner_text()
    assert page.locator("#runs-count").inner_text() == "1 of 4"
    rows.locator("a").click()
    wait_for(page, "document.querySelector('#task-copy').clientHeight > 0")


def test_a_click_in_the_legend_takes_an_embedding_away_and_brings_it_back(visit):
    page = visit()
    draw(page, "task-copy")
    legend = page.locator("#task-copy [data-figure]").first.locator(".legendtoggle").nth(2)
    legend.click()
    page.wait_for_timeout(600)  # plotly waits for a second click before it acts on the first
    assert visible(page, "rpe") == [["band", False], ["seeds", False], ["mean", False]]
    assert all(shown for _, shown in visible(page, "rpe-square"))
    page.locator("#task-copy button[data-role=seeds]").click()
    page.locator("#task-copy button[data-role=seeds]").click()
    assert visible(page, "rpe") == [["band", False], ["seeds", False], ["mean", False]]
    legend.click()
    page.wait_for_timeout(600)
    assert visible(page, "rpe") == [["band", True], ["seeds", True], ["mean", True]]


def test_seeds_and_bands_can_be_hidden(visit):
    page = visit()
    draw(page, "task-copy")
    page.locator("#task-copy button[data-role=seeds]").click()
    assert visible(page, "rpe") == [["band", True], ["mean", True]]
    page.locator("#task-copy button[data-role=band]").click()
    assert visible(page, "rpe") == [["mean", True]]


def test_configurations_are_ticked_and_searched(visit):
    page = visit()
    draw(page, "task-copy")
    rows = page.locator("#task-copy .picker tbody tr:visible")
    assert rows.count() == 2
    assert all(visible(page, name) for name in ("rpe", "rpe-square"))
    box = page.locator("#task-copy .picker input[value=rpe]")
    box.uncheck()
    assert visible(page, "rpe") == []
    box.check()
    assert len(visible(page, "rpe")) == 3
    page.locator("#task-copy .picker input[type=search]").fill("square")
    assert rows.count() == 1


def test_a_choice_of_scale_changes_the_digits(visit):
    page = visit()
    draw(page, "task-copy")
    choice = page.locator("#task-copy [data-figure] select")
    longest = (
        """select => Math.max(...select.closest('[data-figure]').querySelector('.canvas').data.map(t => t.x.length))"""
    )
    assert choice.evaluate(longest) == 18  # the band of nine tokens, there and back
    choice.select_option("scale 5")
    assert choice.evaluate(longest) == 12


def test_a_point_leads_to_its_run(visit):
    page = visit()
    draw(page, "task-copy")
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
def test_links_stop_at_their_heading(visit, width):
    """Those of the navigation, and those to the details of a configuration, below figures that were not drawn yet."""
    page = visit(width)
    links = page.evaluate("[...document.querySelectorAll('nav a, #heat td a')].map(link => link.hash.slice(1))")
    assert len(links) > 9
    for name in links:
        page.evaluate(f"location.hash = '{name}'")
        heading = f"document.querySelector('[id=\"{name}\"]').querySelector('h2, h3').getBoundingClientRect()"
        bar = "document.querySelector('body > header').getBoundingClientRect().bottom"
        ends = "scrollY + innerHeight >= document.documentElement.scrollHeight - 1"
        first = "document.querySelector('section.active .finding')"  # the front page begins with its headline
        lands = f"{heading}.top >= {bar} && ({heading}.bottom < innerHeight / 2 || {ends} || scrollY === 0 && {first})"
        wait_for(page, lands)
        page.wait_for_timeout(300)
        assert page.evaluate(lands), name


def test_the_string_follows_its_choices(visit):
    page = visit()
    go(page, "task-copy")
    page.locator("#task-copy .chooser select").select_option(label="RPE-Square")
    box = page.locator("#task-copy article.active [data-traces]")
    boxes = box.locator(".token").count()
    assert boxes == len("b31415=31415e")
    assert box.locator(".said").inner_text().endswith("The output is right.")
    before = box.locator(".look").count()
    box.locator("select[name=head]").select_option("0.0")
    assert box.locator(".look").count() < before
    box.locator("select[name=view]").select_option("terms")
    assert box.locator(".look").count() > 0
    page.locator("#task-copy .chooser select").select_option(label="RPE")
    wait_for(page, "document.querySelector('#task-copy article.active h3').textContent.startsWith('RPE ')")
    box = page.locator("#task-copy article.active [data-traces]")
    assert box.locator(".said").inner_text().endswith("First error at answer token 4.")
    assert box.locator(".arc").count() == 0
    assert box.locator(".wrong").text_content() == "✗1"


def test_the_ledger_is_filtered(visit):
    page = visit()
    go(page, "ledger")
    page.locator("#ledger button", has_text="1 holds").click()
    assert page.locator("#ledger .claim:visible").count() == 1
    assert "fails as printed" in page.locator("#ledger .claim:visible").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(visit, scheme):
    page = visit(390, 844, color_scheme=scheme)
    for name in page.evaluate("[...document.querySelectorAll('nav a')].map(link => link.hash.slice(1))"):
        draw(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        wide = page.evaluate(
            """() => [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 391
                 && !e.closest('.scroll, .picture, pre')).map(e => e.outerHTML.slice(0, 80))"""
        )
        assert wide == []


def test_figures_follow_the_colour_scheme_and_print_light(visit):
    page = visit(color_scheme="light")
    draw(page, "task-copy")
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
    draw(page, "task-division")
    assert page.locator("h1").text_content() == EVIL
    assert page.title() == EVIL
    assert json.dumps(EVIL)[1:-1] in page.locator("#task-division").inner_html().replace("&lt;", "<").replace(
        "&gt;", ">"
    )
