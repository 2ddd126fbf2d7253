"""Variables on the command line: `--var rate=1e-5..1e-1:log`, or a TOML file that describes all of them."""

import contextlib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from thalweg._common.checks import listed, one_of, shortened
from thalweg.cli.files import read_bytes
from thalweg.space import Fixed, Integer, Real, Space
from thalweg.space.variables import CATEGORICAL, Variable

FORM = "NAME=LOW..HIGH, then :log, :int, :x0=NUMBER or :sigma0=NUMBER, or NAME=NUMBER for a fixed value"
FIELDS = ("low", "high", "log", "integer", "x0", "sigma0")
"""Keys of a variable in a TOML file."""


def read_space(variables: Iterable[str], file: Path | None) -> Space | None:
    """Return the space that `--var` and `--space` describe together; None without either."""
    described = {} if file is None else read_toml(file)
    for text in variables:
        name, variable = read_variable(text)
        if name in described:
            raise ValueError(f"--var {text!r}: there is a variable {name!r} already")
        described[name] = variable
    return Space(described) if described else None


def read_variable(text: str) -> tuple[str, Variable]:
    """Return name and description of a variable.

    >>> read_variable("width=8..512:int:log")
    ('width', Integer(8, 512, log=True))
    >>> read_variable("gamma=0.99"), read_variable("shift=0..")[1].high
    (('gamma', Fixed(0.99)), None)
    """
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not equals or not name or not rest:
        raise ValueError(f"--var must have the form {FORM}, got {text!r}")
    extent, *options = (part.strip() for part in rest.split(":"))
    option = f"--var {text!r}"
    low, dots, high = extent.partition("..")
    if not dots:
        if options:
            raise ValueError(f"{option}: a fixed value takes no {listed(options)}; give a range as in {name}=0..1:log")
        if (value := _parsed(extent)) is None:
            raise ValueError(f"{option} {CATEGORICAL}")
        return name, _made(Fixed, option, value)
    given: dict[str, Any] = {side: _number(end, option) for side, end in (("low", low), ("high", high)) if end.strip()}
    for part in options:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key in given or not (key in ("x0", "sigma0") if equals else key in ("log", "int")):
            raise ValueError(f"{option} has {part!r}; the form is {FORM}")
        given[key] = _number(value, option) if equals else True
    return name, _made(Integer if given.pop("int", False) else Real, option, **given)


def read_toml(file: Path) -> dict[str, Variable]:
    """Return the variables of a TOML file: a table with the keys of `FIELDS` for each, or a number for a fixed value."""
    try:
        content = tomllib.loads(read_bytes(file, f"--space {str(file)!r}").decode())
    except RecursionError:
        raise ValueError(f"--space {str(file)!r} is not valid TOML: its tables or lists are too deep") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"--space {str(file)!r} is not valid TOML: {error}") from None
    variables: dict[str, Variable] = {}
    for name, given in content.items():
        where = f"--space {str(file)!r}, variable {name!r}"
        if not isinstance(given, Mapping):
            if isinstance(given, bool | str | list):
                raise ValueError(f"{where} {CATEGORICAL}")
            variables[name] = _made(Fixed, where, given)
            continue
        if any(isinstance(value, str | list) for value in given.values()):
            raise ValueError(f"{where} {CATEGORICAL}")
        if unknown := sorted(given.keys() - set(FIELDS)):
            raise ValueError(f"{where} has {listed(unknown)}; {one_of(unknown[0], FIELDS, 'it may have')}")
        integer = given.get("integer", False)
        if not isinstance(integer, bool):
            raise ValueError(f"{where}: integer must be true or false, got {shortened(integer)}")
        rest = {key: value for key, value in given.items() if key != "integer"}
        variables[name] = _made(Integer if integer else Real, where, **rest)
    if not variables:
        raise ValueError(
            f"--space {str(file)!r} has no variables; write for example: rate = {{low = 1e-5, high = 1e-1, log = true}}"
        )
    return variables


def _made(kind: type[Real] | type[Integer] | type[Fixed], where: str, *given: Any, **named: Any) -> Variable:
    try:
        return kind(*given, **named)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None


def _number(text: str, option: str) -> float:
    if (number := _parsed(text)) is None:
        raise ValueError(f"{option}: {text!r} is not a number; the form is {FORM}")
    return number


def _parsed(text: str) -> float | None:
    """Return a number, as an int where it is written as one; None if it is none."""
    for parse in (int, float):
        with contextlib.suppress(ValueError):
            return parse(text)
    return None
