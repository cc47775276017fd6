# The demo's migration: wallets of a legacy app, taken in over a kill, from published test phrases.

readonly LEGACY=$ROOT/Tests/Legacy

legacy_wallets_are_told_apart() {
    KEYCHAIN=$COFFER_HOME/keychain.jsonl TORN=$COFFER_HOME/torn-keychain.jsonl
    cp "$LEGACY/keychain.jsonl" "$LEGACY/torn-keychain.jsonl" "$COFFER_HOME/"
    KEYCHAIN_DIGEST=$(sha256sum <"$KEYCHAIN")
    expect 0 migrate plan "$KEYCHAIN" --json
    same "counts" "$(field listed) $(field orphaned) $(field undetermined)" "24 2 0"
    note "24 are listed, and 2 were reset in the app: no list names them any more"
    expect 0 migrate plan "$TORN" --json
    same "counts" "$(field listed) $(field orphaned) $(field undetermined)" "1 0 1"
    note "where a list is cut off, 1 is listed, and of 1 nobody can tell"
}

migration_is_killed() {
    local command taken
    # In place of its shell, so that the command itself is killed.
    (exec setsid "$BIN/coffer" migrate apply "$KEYCHAIN" --passcode-fd 3 \
        3<<<"$PASSCODE" >/dev/null 2>&1) &
    command=$!
    wait_taken_in
    kill -KILL "$(service_pid migration)" "$(service_pid wallet-vault)" "$command" || true
    wait "$command" 2>/dev/null || true
    wait_healthy 5000 wallet-vault migration
    taken=$(taken_in)
    if [ "$taken" -lt 1 ] || [ "$taken" -ge 24 ]; then fail "$taken of 24 were taken in"; fi
    note "migration, wallet-vault and the command killed: $taken of 24 were taken in"
}

# Waits until some wallets stand in the ledger.
wait_taken_in() {
    local deadline=$(($(now_ms) + 20000))
    until [ "$(taken_in)" -ge 3 ]; do
        [ "$(now_ms)" -lt "$deadline" ] || fail "nothing is taken in"
    done
}

# How many wallets the ledger has.
taken_in() {
    expect 0 migrate status --json
    printf '%s\n' "$(($(field mainnet) + $(field testnet)))"
}

migration_goes_on() {
    expect 0 migrate apply "$KEYCHAIN" --json --passcode-fd 3 3<<<"$PASSCODE"
    same "taken in" "$(taken_in)" 24
    local network
    for network in mainnet testnet; do
        same "identities" "$(identities_in "dash.$network")" \
            "$(sed -n "s/^$network //p" "$LEGACY/identities" | sort)"
    done
    note "begun again: 24 of 24, each once, with the identities that another program derives"
    expect 7 migrate apply "$TORN" --passcode-fd 3 3<<<"$PASSCODE"
    expect 0 migrate plan "$TORN" --json
    same "counts" "$(field in_ledger) $(field undetermined)" "1 1"
    note "of the source with a list cut off: 1 taken in, and 1 left alone, for nobody can tell"
}

# identities_in NAMESPACE: of its wallets, sorted.
identities_in() {
    expect 0 wallet list --namespace "$1" --json --passcode-fd 3 3<<<"$PASSCODE"
    grep -o '"identity":"[0-9a-f]*"' <<<"$OUT" | cut -d '"' -f 4 | sort
}

migration_is_verified() {
    expect 0 migrate verify "$KEYCHAIN" --json --passcode-fd 3 3<<<"$PASSCODE"
    same "verified" "$(field verified)" true
    note "the vault opens every one, and each is the one that the source leads to"
    same "sources" "$(sha256sum <"$KEYCHAIN")" "$KEYCHAIN_DIGEST"
    note "the source is what it was, byte for byte"
}
