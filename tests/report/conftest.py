"""A browser for each file of tests, and pages that ask for nothing and on which nothing goes wrong."""

import pytest

from report.chromium import CHROMIUM


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser):
    """Opens a page; at the end, nothing but its file was asked for, nothing went wrong, and no foreign script ran."""
    visits = []

    def open_page(path, width=1280, height=900, **options):
        page = browser.new_context(viewport={"width": width, "height": height}, **options).new_page()
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.route("http*://**", lambda route: route.abort())
        page.goto(path.as_uri())
        visits.append((page, path, asked, wrong))
        return page

    yield open_page
    for page, path, asked, wrong in visits:
        assert page.evaluate("typeof hacked") == "undefined"
        assert wrong == []
        assert {url for url in asked if not url.startswith("data:")} == {path.as_uri()}
        page.context.close()
