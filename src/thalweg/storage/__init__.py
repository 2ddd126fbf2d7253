"""Files: archives of checkpoints, logs of evaluations, checks of JSON, and atomic writes."""

import os
from typing import BinaryIO, TypeGuard

Target = str | os.PathLike[str]
"""Name of a file."""
File = Target | BinaryIO
"""A file by its name, or one that is open for bytes, such as an `io.BytesIO`."""


def is_name(file: File) -> TypeGuard[Target]:
    """Return whether this is the name of a file, and not an open one."""
    return isinstance(file, str | os.PathLike)


def described(file: File) -> str:
    """Return the file as errors name it: its name in quotes, or the kind of an open one.

    >>> import io
    >>> described("run.ckpt"), described(io.BytesIO())
    ("'run.ckpt'", 'in BytesIO')
    """
    return repr(os.fspath(file)) if is_name(file) else f"in {type(file).__name__}"
