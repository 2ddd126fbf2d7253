#!/usr/bin/env bash
# Build the sdist and the wheel into a folder (default: dist), then both again from the unpacked sdist: to the same bytes.
# Their times are SOURCE_DATE_EPOCH, by default that of the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$(realpath --canonicalize-missing "${1:-dist}")
python=${PYTHON:-.venv/bin/python}
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 1577836800)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

backend=$(sed -n 's/^requires = \["\([^"]*\)"\].*/\1/p' pyproject.toml)
"$python" -m pip install --quiet --disable-pip-version-check --target "$work/backend" "$backend"
build() { # FOLDER OUT
    (cd "$1" && PYTHONPATH=$work/backend "$python_path" -c "
import sys; from flit_core import buildapi; buildapi.build_sdist(sys.argv[1]); buildapi.build_wheel(sys.argv[1])" "$2")
}
python_path=$(realpath --no-symlinks "$python")
mkdir -p "$out" "$work/again"
build . "$out"
sdist=$(basename "$out"/thalweg-*.tar.gz)
tar -xzf "$out/$sdist" -C "$work" --no-same-permissions --touch
build "$work/${sdist%.tar.gz}" "$work/again"
for file in "$work"/again/*; do
    cmp "$file" "$out/$(basename "$file")"
done

if git rev-parse --git-dir > /dev/null 2>&1; then # the sdist holds the files of the repository, and nothing else
    diff <(tar -tzf "$out/$sdist" | sed 's|^[^/]*/||' | grep -vx PKG-INFO | sort) \
        <(git ls-files --cached --others --exclude-standard | sort) || {
        echo "The sdist and the repository differ in these files: see [tool.flit.sdist] in pyproject.toml." >&2
        exit 1
    }
fi
ls "$out"/thalweg-*
