#!/usr/bin/env bash
# Build the reference site into site/ (or the folder given): the guides, and every docstring. A warning is an error.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"

python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
# Not --quiet: MkDocs counts only the warnings that it shows.
NO_MKDOCS_2_WARNING=1 python -m mkdocs build --strict --site-dir "${1:-site}"
echo "the site is in ${1:-site}/. To read it with its search: python -m http.server --directory ${1:-site}" >&2
