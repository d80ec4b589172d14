#!/usr/bin/env bash
# Install mirenc with all that its tests need, and run them. Arguments go to pytest.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"

if ! python -c 'import importlib.metadata as m; m.version("torch")' 2>/dev/null &&
    ! python -m pip index versions torch 2>/dev/null | grep -F 2.13.0+cpu >/dev/null; then
    echo "pip finds no CPU build of torch here, so the one for CUDA comes: 2.7 of 3.3 GB (scripts/resolves.py). To spare" \
        "that, stop now and point PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS to PyTorch's CPU wheels" >&2
fi
echo "installing mirenc and its test tools into $VIRTUAL_ENV ..." >&2
# With a model that is a package of its own, and data alone.
python -m pip install --quiet --constraint constraints.txt --editable '.[test]' --editable ./models/mirenc-base
# By themselves. The dependencies of programl cannot be installed today, and its graph builder, a program, needs none of
# them; IR2Vec is a row of the downstream tables, asks for nothing, and is no dependency.
python -m pip install --quiet --constraint constraints.txt --no-deps programl IR2Vec==2.1.1

# Two test processes, one thread each: more threads than cores makes torch slower, not faster. Tests of one file stay
# together until a process has nothing left to do, because they share what is slow to make.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
python -m pytest -n 2 --dist worksteal "$@"
