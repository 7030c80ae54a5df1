#!/bin/sh
# Makes .venv with the project, its tested pins and the extras given (dev, peers), or leaves it as it is when
# pyproject.toml and constraints.txt have not changed since. PYTHON names the interpreter to use.
set -eu
cd "$(dirname "$0")/.."

suits() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        suits "$PYTHON" && echo "$PYTHON" && return
        echo "PYTHON=$PYTHON is no Python 3.11 or newer" >&2
        exit 1
    fi
    for name in python3 python3.11 python3.12 python3.13 python3.14 python; do
        suits "$name" && echo "$name" && return
    done
    echo "Python 3.11 or newer is needed and was not found; install it, or name it: PYTHON=/path/to/python3" >&2
    exit 1
}

if ! [ -x .venv/bin/python ] || ! suits .venv/bin/python; then
    python=$(find_python)
    echo "making .venv with $("$python" --version)" >&2
    if ! "$python" -m venv --clear .venv; then
        echo "$python cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2
        exit 1
    fi
fi

# One stamp an extra, so that asking for fewer extras later installs nothing.
sum=$(cat pyproject.toml constraints.txt | cksum)
missing=
for extra in core "$@"; do
    [ "$(cat ".venv/stamp-$extra" 2>/dev/null)" = "$sum" ] || missing="$missing $extra"
done
[ -n "$missing" ] || exit 0

extras=$(echo "$@" | tr ' ' ',')
echo "installing nardy_ai${extras:+ with $extras} into .venv" >&2
.venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --constraint constraints.txt --editable ".${extras:+[$extras]}" >&2
for extra in core "$@"; do
    echo "$sum" >".venv/stamp-$extra"
done
