# Sourced by the other scripts: go to the repository root and stand in a virtual environment.
#
# An active environment is used as it is. Otherwise .venv is made with $PYTHON (default python3) the first
# time, and used afterwards.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${VIRTUAL_ENV:-}" ]; then
    if [ ! -x .venv/bin/python ]; then
        python="${PYTHON:-python3}"
        if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            echo "error: mirenc needs Python 3.11 or later, and '$python' is not one." \
                "Name another: PYTHON=/path/to/python3.11" >&2
            exit 1
        fi
        "$python" -m venv .venv
    fi
    # shellcheck disable=SC1091
    . .venv/bin/activate
fi
