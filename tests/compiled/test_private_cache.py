"""Programs on disk belong to one user: folders are private, and what others could have put there is not run."""

import os
import shutil
from pathlib import Path

import pytest

from thalweg.compiled import disk_cache
from thalweg.compiled.disk_cache import Entry

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners here")
as_root = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")


@pytest.fixture(params=[0o002, 0o000, 0o077, 0o777], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user without a cache folder; JAX has none either."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv(disk_cache.VARIABLE, raising=False)
    monkeypatch.setattr(disk_cache, "setting", lambda name: name == "jax_enable_compilation_cache")
    return tmp_path / "caches"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_folders_are_private_whatever_the_umask_and_then_trusted(home, umask):
    root = disk_cache.folder()
    assert root == home / "thalweg" / "programs"
    entry = Entry(root / "jax-1" / "key")
    entry.write(b"code")
    assert {mode(path) for path in (home, home / "thalweg", root, entry.path.parent)} == {0o700}
    assert mode(entry.path) & 0o077 == 0
    assert disk_cache.folder() == root


def test_a_default_folder_that_a_umask_has_opened_is_closed(home):
    root = home / "thalweg" / "programs"
    root.mkdir(parents=True)
    root.chmod(0o775)
    assert disk_cache.folder() == root
    assert mode(root) == 0o700


def test_an_entry_that_others_can_write_is_none(tmp_path):
    entry = Entry(tmp_path / "jax-1" / "key")
    entry.write(b"code")
    assert entry.read() == b"code"
    entry.path.chmod(0o620)
    assert entry.read() is None


def test_an_entry_under_another_name_is_none(tmp_path):
    entry = Entry(tmp_path / "jax-1" / "key")
    entry.write(b"code")
    other = Entry(entry.path.with_name("other"))
    shutil.copy(entry.path, other.path)
    assert other.read() is None


@as_root
def test_an_entry_of_another_user_is_none(tmp_path):
    entry = Entry(tmp_path / "jax-1" / "key")
    entry.write(b"code")
    os.chown(entry.path, 12345, -1)
    assert entry.read() is None


@as_root
def test_a_folder_of_another_user_is_not_used(home):
    entry = Entry(home / "thalweg" / "programs" / "jax-1" / "key")
    entry.write(b"code")
    os.chown(entry.path.parent, 12345, -1)
    with pytest.raises(PermissionError, match="others can write"):
        entry.write(b"code")
    os.chown(home / "thalweg" / "programs", 12345, -1)
    assert disk_cache.folder() is None


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_no_entry(kind, tmp_path):
    entry = Entry(tmp_path / "jax-1" / "key")
    entry.write(b"code")
    moved = entry.path.rename(tmp_path / "key")
    {"link": lambda path: path.symlink_to(moved), "pipe": os.mkfifo, "folder": os.mkdir}[kind](entry.path)
    assert entry.read() is None


def test_links_lead_to_nothing_that_is_written_or_removed(tmp_path):
    root, mine = tmp_path / "root", tmp_path / "mine"
    for folder in (root, mine):
        folder.mkdir()
    (mine / "thesis").write_bytes(bytes(1000))
    (root / "jax-1").symlink_to(mine)
    with pytest.raises(PermissionError, match="others can write"):
        Entry(root / "jax-1" / "key").write(b"code")
    disk_cache.prune(root, 10)
    assert os.listdir(mine) == ["thesis"]
