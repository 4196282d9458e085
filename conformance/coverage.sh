#!/usr/bin/env bash
# Writes docs/coverage.md: the number of cases per target and group, their results, and the time of the run.
#
#   conformance/coverage.sh           number of cases
#   conformance/coverage.sh --smoke   also the levels of a smoke run
#   conformance/coverage.sh RESULTS   also the levels of all cases; creates or resumes the file RESULTS
#
# `SUITE` may name the program, if it is built.
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
--smoke) what='a smoke run'; run=(--smoke --timeout 300) ;;
*) what='all cases'; run=(--results "$1" --resume --timeout 300) ;;
esac
if [ $# -gt 0 ]; then
    # Status 1 reports failed cases, which are in the tables; any other status is an incomplete run.
    "$SUITE" --target all "${run[@]}" --table "$work/tables" > "$work/log" || [ $? -eq 1 ]
fi
seconds=$(($(date +%s) - begun))
{
    cat <<HEAD
# Conformance coverage

This page lists the cases of the [conformance suite](conformance.md) for each target, and the level of each group. The suite derives the
cases from the target: samples of its families, its instructions, lanes, warps and element widths. \`conformance/coverage.sh\` writes this
page.

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

## Results

Results of $what, up to level \`emulated\` (without devices). The run took $seconds seconds for all targets
together, on a machine with two processors and other work.

HEAD
    [ $# -eq 0 ] || cat "$work/tables"
} > docs/coverage.md
