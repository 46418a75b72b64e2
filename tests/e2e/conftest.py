"""One server and one browser for all browser tests; a fresh page for each."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.e2e.live import Complaints, running_browser, running_server
from tests.e2e.player import PlayerPage

Opener = Callable[..., PlayerPage]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with running_server() as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture
def new_page(server: str, browser: Browser) -> Iterator[Opener]:
    """Makes pages with any options of a browser context; each must end without a complaint of the browser's."""
    contexts: list[tuple[BrowserContext, Complaints, PlayerPage]] = []

    def make(**options: object) -> PlayerPage:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})  # type: ignore[arg-type]
        context.set_default_timeout(15_000)
        page = context.new_page()
        player = PlayerPage(page, server)
        contexts.append((context, Complaints(page), player))
        return player

    yield make
    for context, complaints, player in contexts:
        context.close()
        assert [text for text in complaints.texts if not any(each in text for each in player.expected_complaints)] == []


@pytest.fixture
def player(new_page: Opener) -> PlayerPage:
    return new_page()
