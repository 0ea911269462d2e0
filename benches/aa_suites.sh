#!/usr/bin/env bash
# How many A/A suites of ten real small programs have a finding, on this machine as it is now: two variants that do not differ.
#
#   benches/aa_suites.sh [SUITES]        # default 20; LAPWING names the program
#
# Prints the findings of each suite, and how many suites have one. About 5 % of suites are expected to, per metric.
set -eu
program=${LAPWING:-lapwing}
suites=${1:-20}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
seq 1 20000 | sort -R --random-source=/dev/zero >numbers
head -c 2000000 /dev/urandom >noise
cat >lapwing.toml <<'SUITE'
suite = "real"
[defaults]
iterations = 3
[variant.one]
[variant.two]
[benchmark]
sort.command = ["sort", "-n", "numbers"]
gzip.command = ["gzip", "-kfc", "noise"]
sha.command = ["sha256sum", "noise"]
wc.command = ["wc", "numbers"]
awk.command = ["awk", "{ s += $1 } END { print s }", "numbers"]
grep.command = ["grep", "-c", "7", "numbers"]
python.command = ["python3", "-c", "sum(range(200000))"]
tr.command = "tr 0-9 a-j <numbers >/dev/null"
find.command = ["find", "/usr/share", "-maxdepth", "2"]
true.command = ["true"]
SUITE
found=0
for suite in $(seq "$suites"); do
    rm -rf .lapwing
    "$program" run --quiet --seed "$suite" >/dev/null 2>&1
    answer=$("$program" compare variant:one variant:two --format csv 2>/dev/null)
    findings=$(printf '%s\n' "$answer" | grep -E ',(regression|improvement),' | cut -d, -f2,4 | tr '\n' ' ' || true)
    printf 'suite %s: %s\n' "$suite" "${findings:-no finding}"
    [ -z "$findings" ] || found=$((found + 1))
done
printf '%s of %s suites have a finding\n' "$found" "$suites"
