"""The archive: what enters it, what leaves it, and in what order."""

import numpy as np

from thalweg.models.archive import Archive


def test_no_failure_and_no_point_twice_enters():
    archive = Archive(2, 10)
    e = np.array([1.0, 2.0])
    assert archive.add(e, e, 3.0)
    assert not archive.add(e, e, 4.0)
    for f in (np.nan, np.inf, -np.inf):
        assert not archive.add(e + 1, e + 1, f)
    assert not archive.add(np.array([np.nan, 0.0]), e + 1, 1.0)
    assert archive.f.tolist() == [3.0]
    assert archive.fresh == 1


def test_the_newest_points_stay():
    archive = Archive(1, 3)
    for i in range(5):
        archive.add(np.array([-1.0 * i]), np.array([1.0 * i]), 10.0 * i)
    assert archive.f.tolist() == [40.0, 30.0, 20.0]
    assert archive.y[:, 0].tolist() == [4.0, 3.0, 2.0]
    assert archive.e[:, 0].tolist() == [-4.0, -3.0, -2.0]
    assert len(archive) == archive.fresh == 3


def test_a_new_frame_moves_all_points_and_drops_those_without_a_place():
    archive = Archive(1, 10)
    for y in (1.0, 2.0, 3.0):
        archive.add(np.array([y]), np.array([y]), y)
    archive.begin(lambda y: np.where(y == 2, np.nan, 10 * y))
    assert archive.e[:, 0].tolist() == [30.0, 10.0]
    assert archive.f.tolist() == [3.0, 1.0]
    assert archive.fresh == 0


def test_points_of_a_generation_are_sorted_whatever_the_order_in_which_they_come():
    found = []
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        archive = Archive(1, 10)
        archive.add(np.array([9.0]), np.array([9.0]), 9.0)
        archive.begin(lambda y: y)
        for i in order:
            archive.add(np.array([i * 1.0]), np.array([i * 1.0]), [2.0, 1.0, 1.0, 5.0][i])
        archive.sort_fresh()
        found.append((archive.y[:, 0].tolist(), archive.f.tolist()))
    assert found[0] == found[1] == ([1.0, 2.0, 0.0, 3.0, 9.0], [1.0, 1.0, 2.0, 5.0, 9.0])


def test_the_best_points_come_best_first_and_of_equal_ones_the_newest():
    archive = Archive(1, 10)
    for i, f in enumerate([2.0, 1.0, 3.0, 1.0]):
        archive.add(np.array([10.0 * i]), np.array([1.0 * i]), f)
    e, y, f = archive.best(3)
    assert f.tolist() == [1.0, 1.0, 2.0]
    assert y[:, 0].tolist() == [3.0, 1.0, 0.0]
    assert e[:, 0].tolist() == [30.0, 10.0, 0.0]


def test_a_point_behind_displaces_none_but_the_worst():
    archive = Archive(1, 3)
    for place, value in ((1.0, 5.0), (2.0, 9.0)):
        archive.add(np.array([place]), np.array([place]), value)
    assert archive.add_behind(np.array([3.0]), np.array([3.0]), 7.0)
    assert archive.f.tolist() == [9.0, 5.0, 7.0]
    archive.fresh = 0
    assert not archive.add_behind(np.array([4.0]), np.array([4.0]), 9.5)
    assert archive.add_behind(np.array([5.0]), np.array([5.0]), 1.0)
    assert archive.f.tolist() == [5.0, 7.0, 1.0]
    archive.fresh = 3
    assert not archive.add_behind(np.array([6.0]), np.array([6.0]), 0.0)
    assert not archive.add_behind(np.array([5.0]), np.array([5.0]), 0.5)
