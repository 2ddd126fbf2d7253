#!/usr/bin/env bash
# Install the wheel that lies in a folder into an empty environment of an interpreter, and use it: try_wheel.sh PYTHON FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=$PWD
env=$root/$2/env
rm -rf "$env"
"$1" -m venv "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --constraint constraints.txt "$(ls "$root/$2"/*.whl)[cli]"
cd "$2" # where there is no source
"$env/bin/thalweg" minimize scipy.optimize:rosen --x0=-1,1 --sigma0 0.5 --seed 1 --quiet
"$env/bin/python" -m thalweg --version
"$env/bin/python" -m doctest -o ELLIPSIS "$root/README.md"
"$env/bin/python" - << 'END'
import importlib.resources
import importlib.util

import scipy.optimize

import thalweg.plots

if "</html>" not in thalweg.plots.page(thalweg.minimize(scipy.optimize.rosen, [0, 0])):
    raise SystemExit("the page of a run is not whole")
if not (importlib.resources.files("thalweg") / "py.typed").is_file():
    raise SystemExit("py.typed is missing")
if importlib.util.find_spec("thalweg_studies") is not None:
    raise SystemExit("the environment is not empty")
END
