# OpenBao's server, beside which Coffer is tried and measured.

# Prints $BAO, or `bao` from the path, if it is the program itself. The package for Python puts a
# script before it; a signal would end the script alone.
openbao_program() {
    local program=${BAO:-$(command -v bao || true)}
    [ -n "$program" ] && [ "$(head -c 4 "$program")" = $'\x7fELF' ] || return 1
    printf '%s\n' "$program"
}
