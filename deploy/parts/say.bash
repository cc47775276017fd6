# What the scripts tell a person, and how they end. The exit codes are those of `coffer`.

readonly EXIT_FAILED=1 EXIT_USAGE=2 EXIT_UNREACHABLE=6 EXIT_REFUSED=7

say() { printf '%s\n' "$*"; }
complain() { printf '%s: %s\n' "${PROGRAM:-deploy}" "$*" >&2; }

# die CODE SENTENCE
die() {
    local code=$1
    shift
    complain "$@"
    exit "$code"
}

# Milliseconds of a clock that nobody sets.
now_ms() {
    local up rest
    read -r up rest </proc/uptime
    # Hundredths of a second, read in base ten.
    printf '%s\n' "$((10#${up/./} * 10))"
}

# seconds MILLISECONDS: as a person reads it.
seconds() { printf '%d.%02d s' "$(($1 / 1000))" "$(($1 % 1000 / 10))"; }
