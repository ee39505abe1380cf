#!/bin/sh
# Indexes the example workspace and asks it questions in English and Chinese.
set -eu
workspace="$(dirname "$0")/workspace"
CLAWMARK="${CLAWMARK:-clawmark}"

ask() {
    printf '\n$ clawmark search "%s"\n' "$1"
    "$CLAWMARK" search --workspace "$workspace" --max-results "${2:-2}" "$1"
}

printf '$ clawmark index\n'
"$CLAWMARK" index --workspace "$workspace"

ask "Why did we give up on SQLite?"
ask "How many customers were hit by the outage on launch day?" 1
ask "TB-1467"
ask "备份连续失败的原因" 1
ask "乘客名单能存多长时间？" 1
ask "Which day may the fish not be collected because the shop is closed?" 1

printf '\n$ clawmark status\n'
"$CLAWMARK" status --workspace "$workspace"
