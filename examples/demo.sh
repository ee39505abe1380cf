#!/bin/sh
# Indexes the example workspace and asks it questions in English and Chinese.
set -eu
workspace="$(dirname "$0")/workspace"
CLAWMARK="${CLAWMARK:-clawmark}"

ask() {
    printf '\n$ clawmark search "%s"\n' "$1"
    "$CLAWMARK" search --workspace "$workspace" --max-results "${2:-2}" "$1"
}

printf '$ cd %s\n$ clawmark index\n' "$workspace"
"$CLAWMARK" index --workspace "$workspace"

ask "Why did we give up on SQLite?" 1
ask "Why does caffeine in the afternoon bother her?" 1
ask "bk_9f27c1"
ask "备份连续失败的原因" 1
ask "乘客名单能存多长时间？" 1
ask "HZ7Q2M" 1

printf '\n$ clawmark status\n'
"$CLAWMARK" status --workspace "$workspace"
