"""The single file in Firefox; Chromium's share is in tests/e2e."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.firefox import Firefox, running_firefox
from tests.own_process import free_port

READY = "document.querySelector('grad-walk')?.isReady"


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with running_firefox(tmp_path_factory.mktemp("profile"), free_port()) as browser:
        yield browser


def test_a_single_file_opens_from_its_folder_and_every_step_can_be_reached(
    lesson: Path, gradwalk, firefox: Firefox
) -> None:
    gradwalk("export", "lesson.py", "--format", "html", "--output", "lesson.html", cwd=lesson)
    firefox.open((lesson / "lesson.html").as_uri())
    firefox.wait_until(READY)
    seen = firefox.run(
        "const element = document.querySelector('grad-walk');"
        "return element.stops.map((stop) => (element.goTo(stop), element.state.sentence !== '' && element.state.place))"
    )
    assert seen == firefox.run("return document.querySelector('grad-walk').stops")
    assert len(seen) == 16
    assert firefox.run("return performance.getEntriesByType('resource').map((each) => each.name)") == []
