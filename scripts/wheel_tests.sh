#!/usr/bin/env bash
# Run the tests over the wheel, installed with all extras but torch's: for Pythons that no torch is at hand for.
#     bash scripts/debian_root.sh trixie bash scripts/wheel_tests.sh tests/encoder/weights
# Arguments go to pytest. A test that comes to import torch is skipped (tests/shared_fixtures.py).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/checkout"
tar --create --exclude=./.venv --exclude=./.git --exclude=./build . | tar --extract --directory "$folder/checkout"
cd "$folder/checkout"
"${PYTHON:-python3}" -m venv "$folder/environment"
. "$folder/environment/bin/activate"
python -m pip wheel --quiet --no-deps --wheel-dir "$folder" .
python -m pip install --quiet --constraint constraints.txt ipykernel nbclient nbformat pytest pytest-xdist \
    "$(echo "$folder"/mirenc-*.whl)[tasks,compile,opencl,cuda,map,mcp,zstd]"

# Only the installed package is left to import; tests that read mirenc/ read it there.
rm -r mirenc build ./*.egg-info
ln -s "$(python -c 'import mirenc; print(mirenc.__path__[0])')" mirenc
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
pytest -n 2 --dist worksteal "$@"
