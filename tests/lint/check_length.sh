#!/usr/bin/env bash
# A file has one purpose and at most 400 lines; tests may have 600.
set -euo pipefail
findings=0
while read -r file; do
    [[ -f $file ]] || continue
    case $file in
        tests/golden/* | *.json | *.lock | *.txt) continue ;;
        tests/*) limit=600 ;;
        *) limit=400 ;;
    esac
    lines=$(wc -l <"$file")
    if [[ $lines -gt $limit ]]; then
        echo "$file:$limit: has $lines lines, at most $limit are allowed"
        findings=1
    fi
done < <(git ls-files '*.cpp' '*.hpp' '*.py' '*.sh' '*.js' '*.mjs' '*.cmake' 'CMakeLists.txt' 'deploy/*' 'tests/run' '.ci/run')
exit $findings
