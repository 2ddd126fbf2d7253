"""What every test shares: double precision, and hypothesis without chance or clock.

Doctests of the package and the docs lie outside this folder and so run as a user's process does, with JAX's own defaults.
"""

from collections.abc import Iterator

import hypothesis
import jax
import pytest

hypothesis.settings.register_profile("thalweg", derandomize=True, deadline=None, max_examples=30)
hypothesis.settings.load_profile("thalweg")


@pytest.fixture(autouse=True, scope="module")
def x64() -> Iterator[None]:
    """Run the module's tests in double precision, as the front door runs the library, without touching the global flag.

    Module scope, so that module-scoped fixtures are made in double precision too.
    """
    with jax.enable_x64(True):
        yield
