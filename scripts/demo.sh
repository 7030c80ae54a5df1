#!/bin/sh
# Sets everything up in .venv, trains a small short-nardy bot for about a minute, asks it about an opening roll and
# lets it play the baselines. The bot stays in runs/demo, in place of one from an earlier demonstration.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
PATH="$PWD/.venv/bin:$PATH"

show() {
    echo
    echo "\$ $*"
    "$@"
}

rm -rf runs/demo
show nardy train demo --run runs/demo
show nardy evaluate start --dice 31 --bot runs/demo/bot.safetensors
show nardy benchmark runs/demo/bot.safetensors random pubeval
