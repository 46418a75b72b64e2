"""Every recipe that a lecturer may copy is read by a test, from the page itself."""

import re
from collections import Counter

from tests.hosts.recipes import PAGES, blocks_of
from tests.house.tree import ROOT

READ = re.compile(r"""\brecipe\(\s*["']([\w.]+)["'],\s*["'](\w+)["'](?:,\s*(\d))?""")


def test_every_block_of_every_page_is_run_by_a_test() -> None:
    written = set()
    for page in PAGES.glob("*.md"):
        counts = Counter(language for language, _ in blocks_of(page.name))
        written |= {(page.name, language, number) for language, count in counts.items() for number in range(count)}
    read = {
        (page, language, int(number or 0))
        for file in (ROOT / "tests").rglob("*.py")
        for page, language, number in READ.findall(file.read_text("utf-8"))
    }
    assert len(written) > 20
    assert written - read == set()
    assert read - written == set()
