"""Pages of one browser context per test worker, so that its pages share what the browser compiled."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession

from tests.e2e.host_page import HostPage
from tests.e2e.player import PlayerPage
from tests.world.browser import Complaints
from tests.world.server import ELSEWHERE
from tests.world.shared import SharedServer

Opener = Callable[..., PlayerPage]
VIEWPORT = {"width": 1440, "height": 900}
MEDIA = {"color_scheme", "forced_colors", "reduced_motion"}
"""What one page of a context may have otherwise than the others."""
PATIENCE_MS = 15_000


class SharedContext(NamedTuple):
    """A browser context, and the session of an empty page in it that outlives the pages of tests."""

    context: BrowserContext
    keeper: CDPSession


@pytest.fixture(scope="session")
def shared_context(browser: Browser) -> Iterator[SharedContext]:
    context = browser.new_context(viewport=VIEWPORT)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    yield SharedContext(context, context.new_cdp_session(context.new_page()))
    context.close()


@pytest.fixture
def new_page(server: SharedServer, browser: Browser, shared_context: SharedContext) -> Iterator[Opener]:
    """Makes pages; each must end without an error in the console, an uncaught exception or a breach of its policy.

    Options are those of a browser context. Nothing moves on a page, unless `reduced_motion` is "no-preference". The
    first page of a test is in the shared context unless an option is given that only a context of its own can have;
    further pages are in contexts of their own, since Chromium draws nothing of a tab behind another one.
    """
    opened: list[tuple[PlayerPage, Complaints]] = []
    own: list[BrowserContext] = []

    def make(**options: Any) -> PlayerPage:
        media = {"reduced_motion": "reduce"} | {name: options.pop(name) for name in MEDIA & options.keys()}
        viewport = options.pop("viewport", VIEWPORT)
        context = shared_context.context
        if options or opened:
            context = browser.new_context(**options)
            context.set_default_timeout(PATIENCE_MS)
            own.append(context)
        page = context.new_page()
        page.set_viewport_size(viewport)
        page.emulate_media(**media)
        player = PlayerPage(page, server.url)
        opened.append((player, Complaints(page)))
        return player

    yield make
    for context in own:
        context.close()
    _forget(shared_context, [server.url, server.url.replace("127.0.0.1", ELSEWHERE)])
    for player, complaints in opened:
        assert [text for text in complaints.texts if not any(each in text for each in player.expected_complaints)] == []


def _forget(shared: SharedContext, origins: list[str]) -> None:
    """Leaves a context as it was before the first page."""
    shared.context.set_offline(False)
    shared.context.clear_cookies()
    shared.context.clear_permissions()
    for page in shared.context.pages[1:]:
        page.close()
    for origin in origins:
        shared.keeper.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb"})


@pytest.fixture
def player(new_page: Opener) -> PlayerPage:
    return new_page()


@pytest.fixture
def site(new_page: Opener, site: tuple[Path, str], browser: Browser) -> Iterator[tuple[Path, str]]:  # noqa: ARG001
    """Ends before the pages do, which leave it first: what they still ask it for would be refused."""
    yield site
    for context in browser.contexts:
        for page in context.pages:
            page.goto("about:blank")


@pytest.fixture
def host(new_page: Opener, site: tuple[Path, str], server: SharedServer) -> HostPage:
    return HostPage(new_page().page, *site, server.url)
