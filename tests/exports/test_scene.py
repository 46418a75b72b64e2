"""The process that draws: asked by several threads, killed, forked, late, and with more traces than it keeps."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from gradwalk.exports.exporter import ExportUnavailable, Look
from gradwalk.exports.scene import Scene, Script
from gradwalk.protocol.wire import write_document
from tests.exports.readers import GOLDEN, golden, words_of
from tests.world.processes import children_of, run_python

LOOK = Look(640, 360)
pytestmark = pytest.mark.usefixtures("run")


def script(name: str, language: str = "en") -> Script:
    return Script(write_document(golden(name)), language)


def test_threads_that_draw_at_once_share_a_process_and_get_what_one_alone_gets(scene: Scene) -> None:
    asked = [(script(name), place) for name in ("x-times-x", "chain-of-two") for place in ("0", "1.2", "2.4")]
    together, before = Barrier(2), children_of(os.getpid())

    def draw(order: list[tuple[Script, str]]) -> list[str]:
        together.wait()
        return [scene.draw(*each, LOOK, 1.0) for each in order]

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(draw, [asked, asked[::-1]])
    assert len(children_of(os.getpid()) - before) == 1
    assert one == other[::-1] == [scene.draw(*each, LOOK, 1.0) for each in asked]
    assert len({*one}) == len(asked)


def test_a_language_does_not_leak_into_the_next_picture(scene: Scene) -> None:
    pictures = [scene.draw(script("x-times-x", each), "1.2", LOOK, 1.0) for each in ("en", "de", "en")]
    assert pictures[0] == pictures[2] != pictures[1]
    assert "Schritt 1 von 2" in words_of(pictures[1].encode())


def test_a_killed_process_is_replaced_and_the_picture_comes(scene: Scene) -> None:
    first = scene.draw(script("x-times-x"), "1.2", LOOK, 1.0)
    baked = scene.bake(script("x-times-x").document)
    scene._engine.process.kill()
    scene._engine.process.wait()
    assert scene.draw(script("x-times-x"), "1.2", LOOK, 1.0) == first
    assert scene.bake(script("x-times-x").document) == baked


def test_one_that_throws_dies_or_is_late_refuses_and_the_next_one_draws(scene: Scene, monkeypatch) -> None:
    with pytest.raises(ExportUnavailable, match="it has no format version"):
        scene.bake(b"{}")
    assert scene.open(script("x-times-x"))["backward"]
    late = Scene(seconds_max=0.001)
    with pytest.raises(ExportUnavailable, match="not done after"):
        late.open(script("x-times-x"))
    scene.end()
    with monkeypatch.context() as patch:
        patch.setattr("gradwalk.exports.scene._CHILD", [sys.executable, "-c", "input(); raise OSError(28, 'no room')"])
        with pytest.raises(ExportUnavailable, match="no room"):
            scene.open(script("x-times-x"))
    assert scene.open(script("x-times-x"))["backward"]


def test_what_was_not_asked_for_longest_is_closed_and_opened_again_when_it_is() -> None:
    names = [script(name) for name in ("x-times-x", "chain-of-two", "mlp-step")]
    room = len(names[1].document) + len(names[2].document)
    scene = Scene(open_bytes_max=room)
    first = [scene.draw(each, "1.2", LOOK, 1.0) for each in names]
    look = '{"width": 640, "height": 360, "theme": "light", "transparent": false, "progress": 1}'
    with pytest.raises(ExportUnavailable, match="not open"):
        scene._engine.ask("draw", names[0].key, "1.2", look)
    assert scene._engine.ask("draw", names[1].key, "1.2", look) == first[1]
    assert [scene.draw(each, "1.2", LOOK, 1.0) for each in names] == first
    scene.end()


FORKED = """
import json, os, sys
from gradwalk.exports.exporter import Selection
from gradwalk.exports.scene import SCENE
from gradwalk.exports.walk import write_svg
from gradwalk.protocol.upgrades import load_document
document = load_document(json.load(open(sys.argv[1])))
before, number = write_svg(document, Selection(1, 2)), SCENE._engine.process.pid
if os.fork() == 0:
    is_same = write_svg(document, Selection(1, 2)) == before
    sys.exit(not is_same or SCENE._engine.process.pid == number)
print(os.waitstatus_to_exitcode(os.wait()[1]), write_svg(document, Selection(1, 2)) == before)
print(SCENE._engine.process.pid == number)
"""


def test_a_fork_draws_with_a_process_of_its_own() -> None:
    # From Python 3.12 on, a fork beside threads is warned of.
    done = run_python(["-W", "ignore::DeprecationWarning", "-c", FORKED, GOLDEN / "x-times-x.json"])
    assert (done.stdout, done.stderr) == ("0 True\nTrue\n", "")
