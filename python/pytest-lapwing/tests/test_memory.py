"""How the memory of several blocks is put together."""

from pytest_lapwing.memory import Memory, Sampled


def put_together(*blocks):
    memory = Memory()
    for block in blocks:
        memory.add(Sampled(*block))
    return memory.average, memory.peak


def test_one_block_has_the_mean_and_the_highest_of_its_samples():
    assert put_together((0.0, 4.0, [(0.0, 100), (1.0, 400), (2.0, 100)])) == (200, 400)


def test_blocks_one_after_the_other_are_weighted_by_their_time():
    assert put_together((0.0, 1.0, [(0.0, 800)]), (1.0, 4.0, [(1.0, 100)])) == ((800 + 3 * 100) / 4, 800)


def test_what_ran_at_once_adds_up():
    first = (0.0, 10.0, [(0.0, 100), (4.0, 500), (6.0, 100)])
    second = (0.0, 10.0, [(0.5, 10), (5.0, 30), (7.0, 20)])
    # At 5 s there are 500 and 30; the averages are 700/3 and 60/3.
    assert put_together(first, second) == put_together(second, first) == (760 / 3, 530)


def test_peaks_at_different_times_do_not_add_up():
    first = (0.0, 10.0, [(0.0, 900), (5.0, 100)])
    second = (0.0, 10.0, [(0.0, 10), (6.0, 700)])
    assert put_together(first, second)[1] == 910


def test_blocks_that_overlap_for_a_while_add_up_for_that_while():
    long, short, later = (0.0, 8.0, [(0.0, 100)]), (2.0, 4.0, [(2.0, 50)]), (8.0, 10.0, [(8.0, 140)])
    assert put_together(long, short, later) == ((8 * 100 + 2 * 50 + 2 * 140) / 10, 150)


def test_three_at_once_add_up():
    assert put_together(*((0.0, 1.0, [(0.0, size)]) for size in (1, 2, 4))) == (7, 7)


def test_blocks_without_time_do_not_add_up():
    assert put_together((1.0, 1.0, [(1.0, 100)]), (1.0, 1.0, [(1.0, 300)])) == (200, 300)
