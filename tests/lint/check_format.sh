#!/usr/bin/env bash
# Every C++ file is as clang-format 19 would write it.
set -euo pipefail
mapfile -t files < <(git ls-files --deduplicate '*.cpp' '*.hpp' | while read -r file; do [[ -f $file ]] && echo "$file"; done)
findings=$(clang-format-19 --dry-run --Werror "${files[@]}" 2>&1 | grep -E 'error:' | sed 's/ \[-Wclang-format-violations\]//' | sort -u -t: -k1,1 || true)
[[ -z $findings ]] && exit 0
echo "$findings"
exit 1
