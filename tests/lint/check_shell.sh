#!/usr/bin/env bash
# Every shell script passes shellcheck; a script without a suffix is known by its first line.
set -euo pipefail
mapfile -t scripts < <(git ls-files | while read -r file; do
    [[ -f $file && ! -L $file ]] || continue
    case $file in
        *.sh) echo "$file" ;;
        *.*) ;;
        *) if LC_ALL=C head -c 64 "$file" | tr -d '\0' | head -n 1 | grep -qE '^#!.*\b(ba)?sh\b'; then echo "$file"; fi ;;
    esac
done
git ls-files .ci/run)
mapfile -t scripts < <(printf '%s\n' "${scripts[@]}" | sort -u)
shellcheck -x -f gcc "${scripts[@]}"
