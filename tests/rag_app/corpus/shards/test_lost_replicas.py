"""Which replicas are called again, and when."""

from __future__ import annotations

from rag_app.corpus.shards.lost_replicas import AGAIN, Call, LostReplicas, Replica

ONE, OTHER = Replica("1", 0), Replica("1", 1)


def test_a_replica_is_lost_until_it_answers_a_call() -> None:
    now, answered, calls = [0.0], list[bool | None]([None]), [0]

    def begin() -> Call:
        calls[0] += 1
        return lambda: answered[0]

    lost = LostReplicas(lambda: now[0])
    for _ in range(3):  # questions that came upon it at the same time
        lost.add(ONE, begin)
    lost.add(OTHER, lambda: lambda: None)
    now[0] += 100 * AGAIN
    assert lost.current() == {ONE, OTHER} and calls == [1]  # the call is under way
    lost.remove(OTHER)
    answered[0] = False
    assert lost.current() == {ONE} and calls == [2]
    now[0] += AGAIN / 2
    assert lost.current() == {ONE} and calls == [2]  # not at once again
    now[0] += AGAIN
    assert lost.current() == {ONE} and calls == [3]
    answered[0] = True
    assert not lost.current() and not lost.current() and calls == [3]
