#!/usr/bin/env bash
# Install mirenc with all that its tests need, and run them. Arguments go to pytest.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"

echo "installing mirenc and its test tools into $VIRTUAL_ENV ..." >&2
if ! python -m pip install --quiet --constraint constraints.txt --editable '.[test]'; then
    echo "error: the test tools could not be installed. If pip found no torch==2.13.0+cpu: point it at PyTorch's CPU" \
        "wheels with PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS (PyTorch's installation page has the address)" >&2
    exit 1
fi
# A model that is a package of its own, and data alone.
python -m pip install --quiet --no-deps --editable ./models/mirenc-base
# By itself: its dependencies cannot be installed today, and its graph builder, a program, needs none of them.
python -m pip install --quiet --constraint constraints.txt --no-deps programl
# A row of the downstream tables; it asks for nothing, and is no dependency.
python -m pip install --quiet --no-deps IR2Vec==2.1.1

# Two test processes, one thread each: more threads than cores makes torch slower, not faster. Tests of one file stay
# together until a process has nothing left to do, because they share what is slow to make.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
python -m pytest -n 2 --dist worksteal "$@"
