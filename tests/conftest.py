"""What every test shares: double precision, and hypothesis without chance or clock.

Doctests of the package and the docs lie outside this folder and so run as a user's process does, with JAX's own defaults.
"""

import gc
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis
import jax
import pytest

from thalweg.compiled import steps

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell; tests press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
hypothesis.settings.register_profile("thalweg", derandomize=True, deadline=None, max_examples=30)
hypothesis.settings.load_profile("thalweg")


@pytest.fixture(autouse=True, scope="module")
def x64() -> Iterator[None]:
    """Run the module's tests in double precision, as the front door runs the library, without touching the global flag.

    Module scope, so that module-scoped fixtures are made in double precision too.
    """
    with jax.enable_x64(True):
        yield


class Death:
    """The end of a process by SIGKILL, for one in the same process: the files as they were then."""

    def __init__(self, path: Path) -> None:
        self.files = [path, Path(f"{path}.jsonl")]
        self.kept: list[bytes] | None = None

    def strike(self) -> NoReturn:
        """Keep the checkpoint and the log as a kill would leave them; called by an objective, whose run then ends."""
        self.kept = [file.read_bytes() for file in self.files]
        raise KeyboardInterrupt

    def restore(self) -> None:
        """Put the files back as they were."""
        assert self.kept is not None, "the run has ended before"
        for file, data in zip(self.files, self.kept, strict=True):
            file.write_bytes(data)


@pytest.fixture
def death(tmp_path: Path) -> Death:
    """Return the death of a run whose checkpoint is run.ckpt."""
    return Death(tmp_path / "run.ckpt")


@pytest.fixture(autouse=True, scope="module")
def few_programs() -> Iterator[None]:
    """Let go of compiled programs before there are too many: each takes a hundred memory maps, of which Linux allows 65,530."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > 20_000:
        steps._steps.clear()
        jax.clear_caches()
        gc.collect()
