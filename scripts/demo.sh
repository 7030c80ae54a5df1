#!/bin/sh
# Sets everything up in .venv, trains a small short-nardy bot for about a minute, asks it about an opening roll and
# lets it play the baselines. The bot stays in runs/demo.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
PATH="$PWD/.venv/bin:$PATH"

show() {
    echo
    echo "\$ $*"
    "$@"
}

show nardy train demo --run runs/demo
show nardy evaluate start --dice 31 --bot runs/demo/bot.safetensors
show nardy benchmark runs/demo/bot.safetensors random pubeval
