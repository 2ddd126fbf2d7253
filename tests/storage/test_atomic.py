"""Replaced files: permissions stay, and links are not followed."""

import os

import pytest

from thalweg.search.optimizer import Optimizer
from thalweg.storage.atomic import replace, write_text

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


@pytest.fixture(autouse=True)
def umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path):
    return path.stat().st_mode & 0o7777


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o666, 0o444])
def test_a_file_keeps_its_permissions(kept, tmp_path):
    path = tmp_path / "result.json"
    write_text(path, "old")
    assert mode(path) == 0o644
    path.chmod(kept)
    write_text(path, "new")
    assert (path.read_text(), mode(path)) == ("new", kept)


def test_a_private_checkpoint_stays_private(tmp_path):
    es = Optimizer([1.0, 2.0], method="cma", popsize=4, seed=1)
    es.save(tmp_path / "run.ckpt")
    assert mode(tmp_path / "run.ckpt") == 0o644
    (tmp_path / "run.ckpt").chmod(0o600)
    es.save(tmp_path / "run.ckpt")
    assert mode(tmp_path / "run.ckpt") == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_that_somebody_else_has_planted_does_not_say_who_may_write(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("")
    path.chmod(0o666)
    os.chown(path, 12345, -1)
    write_text(path, "new")
    assert (mode(path), path.stat().st_uid) == (0o644, 0)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_replaced_and_not_followed(there, tmp_path):
    target, path = tmp_path / "thesis", tmp_path / "result.json"
    if there:
        target.write_text("years of work")
        target.chmod(0o666)
    path.symlink_to(target)
    write_text(path, "new")
    assert (path.read_text(), path.is_symlink(), mode(path)) == ("new", False, 0o644)
    assert target.exists() == there
    assert not there or target.read_text() == "years of work"


def test_nothing_is_left_when_writing_fails(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("old")

    def fill(file):
        file.write(b"half of")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        replace(path, fill)
    assert (os.listdir(tmp_path), path.read_text()) == (["result.json"], "old")
