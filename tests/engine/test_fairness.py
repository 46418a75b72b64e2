"""The order of the queue, against the rule as it is written: one sort over all jobs that wait."""

from collections import Counter
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from gradwalk.engine.engine import Lane
from gradwalk.engine.fairness import Usage, in_order


@dataclass(frozen=True)
class Job:
    """What waits."""

    lane: Lane
    client: str
    number: int


_JOBS = st.lists(st.tuples(st.sampled_from(Lane), st.sampled_from("abcd")), max_size=16)
_SECONDS = st.dictionaries(st.sampled_from("abcd"), st.floats(0, 5))
_RUNNING = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3))


def first_by_the_rule(jobs: list[Job], running: dict[str, int], seconds: dict[str, float]) -> Job:
    """By lane, then by how many of the client's run or come before, then by whole seconds used, then by number."""
    rounds = Counter(running)
    ranks = {}
    for job in sorted(jobs, key=lambda job: (job.lane, job.number)):
        ranks[job] = (job.lane, rounds[job.client], int(seconds.get(job.client, 0)), job.number)
        rounds[job.client] += 1
    return min(ranks, key=ranks.__getitem__)


@given(_JOBS, _SECONDS, _RUNNING, st.randoms(use_true_random=False))
def test_jobs_leave_in_the_order_of_the_rule(drawn, seconds, running, random):
    usage = Usage(clock=lambda: 0.0)
    for client, used in seconds.items():
        usage.note(client, used)
    jobs = [Job(lane, client, number) for number, (lane, client) in enumerate(drawn)]
    random.shuffle(waiting := list(jobs))
    while waiting:
        first = in_order(waiting, running, usage)[0]
        assert first == first_by_the_rule(waiting, running, seconds)
        waiting.remove(first)
