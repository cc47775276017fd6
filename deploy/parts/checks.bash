# Counted checks, for tests that are scripts.

PASSED=0 FAILED=0

# check SENTENCE WORD...: whether the command succeeds; what it printed is shown if not.
check() {
    local sentence=$1 output
    shift
    if output=$("$@" 2>&1 9>&-); then
        PASSED=$((PASSED + 1))
        printf 'passed  %s\n' "$sentence"
    else
        FAILED=$((FAILED + 1))
        printf 'FAILED  %s\n%s\n' "$sentence" "$output"
    fi
}

refused() { ! "$@"; }

# ends_with CODE WORD...: whether the command has this exit code.
ends_with() {
    local wanted=$1 code=0
    shift
    "$@" || code=$?
    [ "$code" -eq "$wanted" ]
}

# The closing line, and whether all passed.
close_checks() {
    printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
    [ "$FAILED" -eq 0 ]
}
