#!/usr/bin/env bash
# Install mirenc and embed one example: the vector of examples/saxpy.ll on stdout, the rest on stderr.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"

echo "installing mirenc into $VIRTUAL_ENV ..." >&2
python -m pip install --quiet . >&2
mirenc embed examples/saxpy.ll
