#!/bin/sh
# Sets everything up in .venv and runs the tests on two cores; arguments go to pytest (-n 0: in one process). With
# PEERS=1 the engines that some tests compare with are installed too; without them those tests are skipped.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev ${PEERS:+peers}
exec .venv/bin/python -m pytest -n 2 "$@"
