"""Values of BBOB problems: all 24 functions in one compiled program, or one function alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from thalweg_studies.bbob.functions import ill_conditioned, moderate, multimodal, separable, weak_structure
from thalweg_studies.bbob.functions.problem import BBOBProblem, as_integer

Function = Callable[[jax.Array, BBOBProblem], jax.Array]

FUNCTIONS: tuple[Function, ...] = (
    separable.sphere,
    separable.ellipsoid,
    separable.rippled_rastrigin,
    separable.bueche_rastrigin,
    separable.linear_slope,
    moderate.attractive_sector,
    moderate.step_ellipsoid,
    moderate.rosenbrock,
    moderate.rotated_rosenbrock,
    ill_conditioned.rotated_ellipsoid,
    ill_conditioned.discus,
    ill_conditioned.bent_cigar,
    ill_conditioned.sharp_ridge,
    ill_conditioned.different_powers,
    multimodal.rotated_rastrigin,
    multimodal.weierstrass,
    multimodal.mild_schaffer,
    multimodal.harsh_schaffer,
    multimodal.griewank_rosenbrock,
    weak_structure.schwefel,
    weak_structure.gallagher,
    weak_structure.gallagher,
    weak_structure.katsuura,
    weak_structure.lunacek,
)
"""f1 to f24, each without its f_opt."""


def value(x: Any, p: BBOBProblem) -> jax.Array:
    """Return f(x) at one point (d,) in the floating-point type of x; map over points and problems with `jax.vmap`.

    Mapped over problems of different functions, this computes all 24 for every point; `value_of` computes one function alone.

    >>> from thalweg_studies.bbob.functions import make_problems
    >>> problems = make_problems(functions=[1, 11], instances=[1], d=2)
    >>> jax.jit(jax.vmap(value))(problems.x_opt, problems).tolist(), problems.f_opt.tolist()
    ([79.48, 76.27], [79.48, 76.27])
    """
    return evaluate(lambda x, p: jax.lax.switch(p.function - 1, FUNCTIONS, x, p), x, p)


def value_of(function: int) -> Callable[[Any, BBOBProblem], jax.Array]:
    """Return `value` for problems of one function alone; always the same object, so that `jax.jit` compiles it once.

    >>> from thalweg_studies.bbob.functions import make_problem
    >>> p = make_problem(function=5, instance=1, d=3)
    >>> float(value_of(5)(p.x_opt, p)), float(p.f_opt)
    (-9.21, -9.21)
    """
    return VALUES[as_integer(function, "function", 1, 24) - 1]


def evaluate(function: Function, x: Any, p: BBOBProblem) -> jax.Array:
    """Return a function's value including f_opt, computed in the floating-point type of x."""
    x = jnp.asarray(x)
    x = x.astype(jnp.result_type(x, float))
    if x.shape != p.x_opt.shape or x.ndim != 1:
        raise ValueError(
            f"x must be one point of shape {p.x_opt.shape[-1:]} and p one problem, got x of shape {x.shape} and x_opt of shape "
            f"{p.x_opt.shape}; map over several with jax.vmap(value, in_axes=(0, None)) or jax.vmap(value)"
        )
    numbers = jax.tree.map(lambda part: jnp.asarray(part, x.dtype), p._replace(function=None))
    return function(x, numbers._replace(function=p.function)) + numbers.f_opt


VALUES = tuple(partial(evaluate, function) for function in FUNCTIONS)
"""f1 to f24, each including its f_opt."""
