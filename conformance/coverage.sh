#!/usr/bin/env bash
# Writes docs/coverage.md: how many cases each target has in each group, what is shown of them, and in what time.
#
#   conformance/coverage.sh           how many cases there are
#   conformance/coverage.sh --smoke   also levels of a smoke run
#   conformance/coverage.sh RESULTS   also levels of all cases: RESULTS is begun, or gone on with
#
# `SUITE` may name a program that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${SUITE:-}" ]; then
    cargo build --release --bin conformance
    SUITE=target/release/conformance
fi
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$SUITE" --target all --list > "$work/list"
begun=$(date +%s)
case ${1:-} in
'') run=() ;;
--smoke) what='the cases of a smoke run'; run=(--smoke --timeout 300) ;;
*) what='all cases'; run=(--results "$1" --resume --timeout 300) ;;
esac
if [ $# -gt 0 ]; then
    # Cases that fail are in the tables; a run that is not whole is none.
    "$SUITE" --target all "${run[@]}" --table "$work/tables" > "$work/log" || [ $? -eq 1 ]
fi
seconds=$(($(date +%s) - begun))
{
    cat <<HEAD
# Conformance coverage

\`conformance/coverage.sh\` writes this page. The suite derives the cases from the target's
description: samples of its families, its instructions, lanes, warps and widths ([conformance](conformance.md)).

## Number of cases

Cases that need a device are not counted.

HEAD
    groups=$(cut -d ' ' -f 2 "$work/list" | cut -d / -f 1 | sort -u | tr '\n' ' ')
    sort "$work/list" | awk -v groups="$groups" '
        function row(i, text) {
            text = "| `" target "` |"
            for (i = 1; i <= n; i++) text = text " " count[group[i]] " |"
            print text " " all " |"
        }
        BEGIN {
            n = split(groups, group, " ")
            head = "| target |"; line = "|---|"
            for (i = 1; i <= n; i++) { head = head " `" group[i] "` |"; line = line "---:|" }
            print head " all |"; print line "---:|"
        }
        $1 != target { if (target) row(); target = $1; split("", count); all = 0 }
        { split($2, words, "/"); count[words[1]]++; all++ }
        END { row() }'
    [ $# -gt 0 ] && cat <<HEAD

## What is shown

Of $what, up to level \`emulated\`, since no device was asked for. On this machine, which has two processors and other work,
the run took $seconds seconds for all targets together.

HEAD
    [ $# -eq 0 ] || cat "$work/tables"
} > docs/coverage.md
