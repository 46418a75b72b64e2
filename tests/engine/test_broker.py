"""Which list of messages a worker may take the next one from."""

from gradwalk.engine.broker import Places, WithRoom, queue_of
from gradwalk.engine.engine import Lane

LIVE, BATCH = queue_of(Lane.LIVE), queue_of(Lane.BATCH)


def test_files_never_fill_all_places_of_a_worker_but_its_only_one() -> None:
    places = Places(3)
    for some, most in ((Places(1), 1), (places, 2)):
        for _ in range(most):
            assert some.has_room(BATCH)
            some.take(BATCH)
        assert not some.has_room(BATCH)
    for _ in range(3):
        assert places.has_room(LIVE), "whoever looks is kept out by how much runs, not by files"
        places.take(LIVE)
    places.give_back(LIVE)
    assert not places.has_room(BATCH), "a program that ends makes no room for a file"
    places.give_back(BATCH)
    assert places.has_room(BATCH)


def test_messages_come_from_the_queues_that_have_room() -> None:
    cycle = WithRoom(Places(2))
    cycle.update([LIVE, BATCH])
    for used in (LIVE, BATCH):
        assert cycle.consume(2) == [LIVE, BATCH]
        cycle.rotate(used)
    assert cycle.consume(2) == [LIVE], "the other place is for those who look"
