"""Which list of messages a worker may take the next one from."""

from gradwalk.engine.broker import Places, queue_of
from gradwalk.engine.engine import Lane

LIVE, BATCH = queue_of(Lane.LIVE), queue_of(Lane.BATCH)


def test_files_never_fill_all_places_of_a_worker_but_its_only_one() -> None:
    places = Places(3)
    for some, most in ((Places(1), 1), (places, 2)):
        some.update([LIVE, BATCH])
        for _ in range(most):
            assert some.consume(2) == [LIVE, BATCH]
            some.rotate(BATCH)
        assert some.consume(2) == [LIVE], "the other place is for those who look"
    for _ in range(3):
        assert places.consume(2) == [LIVE], "whoever looks is kept out by how much runs, not by files"
        places.rotate(LIVE)
    places.give_back(LIVE)
    assert places.consume(2) == [LIVE], "a program that ends makes no room for a file"
    places.give_back(BATCH)
    assert places.consume(2) == [LIVE, BATCH]
