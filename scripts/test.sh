#!/usr/bin/env bash
# Install mirenc with all that its tests need, and run them. Arguments go to pytest.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"

echo "installing mirenc and its test tools into $VIRTUAL_ENV ..." >&2
python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
# By itself: its dependencies cannot be installed today, and its graph builder, a program, needs none of them.
python -m pip install --quiet --constraint constraints.txt --no-deps programl

# Two test processes, one thread each: more threads than cores makes torch slower, not faster.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
python -m pytest -n 2 "$@"
