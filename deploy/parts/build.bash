# The programs: building them, and where they are.

# In the order in which they start.
readonly SERVICES=(attempt-limiter credential-authority wallet-vault backup-shares migration)

require_swift() {
    command -v swift >/dev/null && return
    die "$EXIT_REFUSED" "\`swift\` is not on PATH. Coffer is built with Swift 6.2 or newer:" \
        "https://www.swift.org/install/linux/"
}

# Builds what changed, with the Swift runtime inside the programs. Where $COFFER_BIN names a folder
# of built programs, those are used and nothing is built.
build_programs() {
    if [ -n "${COFFER_BIN:-}" ]; then
        BIN=$COFFER_BIN
    else
        require_swift
        BIN=$ROOT/.build/release
        swift build --package-path "$ROOT" -c release --static-swift-stdlib >&2 ||
            die "$EXIT_FAILED" "the build failed; nothing was started."
    fi
    local name
    for name in "${SERVICES[@]}" device-key-reader coffer; do
        [ -x "$BIN/$name" ] || die "$EXIT_FAILED" "$BIN/$name is missing."
    done
}

# Where the programs are, for the verbs that do not build.
find_programs() {
    BIN=${COFFER_BIN:-$ROOT/.build/release}
    [ -x "$BIN/coffer" ] || die "$EXIT_REFUSED" "nothing is built yet: \`deploy/launch up\` builds."
}
