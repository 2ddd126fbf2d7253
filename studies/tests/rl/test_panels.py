"""Films of several panels: every frame of each, and the last one for as long as others go on."""

import numpy as np
import pytest

pytest.importorskip("PIL")

from PIL import Image

from thalweg_studies.rl.report.panels import GAP, LABEL, REST, Panel, save_film


def panel(name, frames):
    """A white square on black that moves by four pixels a frame."""
    made = np.zeros((frames, 20, 60, 3), np.uint8)
    for i, image in enumerate(made):
        image[4:12, 4 * i : 4 * i + 8] = 255
    return Panel(name, "a note", "#0072B2", list(made), [""] * frames)


def test_frames(tmp_path):
    path = tmp_path / "film.gif"
    save_film([panel("long", 6), panel("short", 3), panel("one", 1), panel("more", 9)], path, columns=3, frames=6, pause=50)
    with Image.open(path) as film:
        assert film.size == (2 * (60 + GAP) + GAP, 2 * (20 + LABEL + GAP) + GAP)  # two rows of two, not three and one
        assert film.n_frames == 6
        pauses = []
        for i in range(6):
            film.seek(i)
            pauses.append(film.info["duration"])
            seen = np.asarray(film.convert("L")) > 128
            for row, column, last in ((0, 0, 5), (0, 1, 2), (1, 0, 0), (1, 1, 8)):
                x, y = GAP + column * (60 + GAP), GAP + LABEL + row * (20 + LABEL + GAP)
                lit = np.flatnonzero(seen[y + 8, x : x + 60])
                assert (lit.min(), lit.max()) == (4 * min(i, last), 4 * min(i, last) + 7)
    assert pauses == [50] * 5 + [REST]
