#!/bin/sh
# Builds the site of the documentation into build/site, from docs and docstrings; a warning is an error.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh docs
# The notice is about the coming end of the theme, not about the pages.
NO_MKDOCS_2_WARNING=1 exec .venv/bin/python -m mkdocs build --strict --quiet
