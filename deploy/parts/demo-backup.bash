# The demo's backup: a wallet split between three holders, and restored on a second, empty home.

readonly HOLDERS=(alice bob carol)
# Alice and Bob keep their keys under passphrases; Carol's is made by OpenSSL, in the clear.
declare -rA PASSPHRASES=([alice]='harbour-violet-2281' [bob]='meadow-copper-6154')

shares_are_handed_out() {
    local holder
    KEPT=$COFFER_HOME/kept SHARES=$COFFER_HOME/shares
    mkdir "$KEPT"
    for holder in "${HOLDERS[@]}"; do
        make_holder_key "$holder"
        expect 0 holder add "$holder" --key "$KEPT/$holder.pub" --json \
            --passcode-fd 3 3<<<"$PASSCODE"
        note "$holder keeps shares; fingerprint $(field fingerprint)"
    done
    expect 0 backup split published --out "$SHARES" --json --passcode-fd 3 3<<<"$PASSCODE"
    same "files" "$(find "$SHARES" -type f -name '*.share' | wc -l)" 3
    same "texts for later" "$(find "$SHARES" -type f -name 'README-*.txt' | wc -l)" 1
    expect 0 backup list --json --passcode-fd 3 3<<<"$PASSCODE"
    same "confirmed" "$(field confirmed)" true
    for holder in "${HOLDERS[@]}"; do
        note "$(basename "$(share_of "$holder")"), $(wc -c <"$(share_of "$holder")") bytes"
    done
    note "the three files are written and read back: the split counts as a backup"
}

make_holder_key() {
    local key=$KEPT/$1.pem
    if [ -n "${PASSPHRASES[$1]:-}" ]; then
        expect 0 holder keygen --out "$key" --passphrase-fd 3 3<<<"${PASSPHRASES[$1]}"
        mv "$key.pub" "$KEPT/$1.pub"
    else
        openssl genpkey -algorithm ed25519 -out "$key"
        openssl pkey -in "$key" -pubout -out "$KEPT/$1.pub"
    fi
}

# share_of HOLDER: the file that the split wrote for this holder.
share_of() {
    local files=("$SHARES/$1"-*.share)
    printf '%s\n' "${files[0]}"
}

damaged_share_is_named() {
    local holder
    SECOND_HOME=$COFFER_HOME/second
    at_second_home make_home
    at_second_home bring_up
    at_second_home expect 0 passcode set --kind alphanumeric --passcode-fd 3 3<<<"$FIRST_CODE"
    REQUEST=$KEPT/request.json
    at_second_home expect 0 backup request --out "$REQUEST" --json \
        --passcode-fd 3 3<<<"$FIRST_CODE"
    note "a second, empty home asks for the shares; fingerprint $(field fingerprint)"
    for holder in "${HOLDERS[@]}"; do release_share "$holder"; done
    note "each holder releases his, with nothing but file, key and request"
    # One letter of the sealed part becomes another.
    sed -E 's/("envelope":"[^"]{100})A/\1B/; t; s/("envelope":"[^"]{100})./\1A/' \
        "$KEPT/bob.released" >"$KEPT/bob.damaged"
    if cmp -s "$KEPT/bob.released" "$KEPT/bob.damaged"; then fail "nothing was damaged"; fi
    at_second_home expect 9 backup restore "$KEPT"/{alice.released,bob.damaged,carol.released} \
        --expect "$PUBLISHED_IDENTITY" --passcode-fd 3 3<<<"$FIRST_CODE"
    [[ $OUT == *bob* ]] || fail "bob is not named: $OUT"
    [[ $OUT != *alice* && $OUT != *carol* ]] || fail "more than bob is named: $OUT"
    note "one letter changed: $(last_line)"
    at_second_home expect 0 wallet list --json --passcode-fd 3 3<<<"$FIRST_CODE"
    [[ $OUT != *"$PUBLISHED_IDENTITY"* ]] || fail "a wallet was installed: $OUT"
    note "nothing was installed"
}

# release_share HOLDER: what a holder does, on a machine without an installation.
release_share() {
    local words=(holder release --share "$(share_of "$1")" --key "$KEPT/$1.pem"
        --request "$REQUEST" --out "$KEPT/$1.released" --yes)
    if [ -n "${PASSPHRASES[$1]:-}" ]; then
        COFFER_HOME=/nowhere expect 0 "${words[@]}" --passphrase-fd 3 3<<<"${PASSPHRASES[$1]}"
    else
        COFFER_HOME=/nowhere expect 0 "${words[@]}"
    fi
}

shares_restore_the_wallet() {
    at_second_home expect 0 backup restore "$KEPT"/{alice,bob,carol}.released --json \
        --label restored --expect "$PUBLISHED_IDENTITY" --passcode-fd 3 3<<<"$FIRST_CODE"
    local wallet
    wallet=$(field wallet)
    at_second_home expect 0 wallet check restored --json --passcode-fd 3 3<<<"$FIRST_CODE"
    same "identities" "$(field identity)" "$PUBLISHED_IDENTITY"
    note "identity $PUBLISHED_IDENTITY, as on the first home"
    # What was released for it opens nowhere any more.
    at_second_home expect 7 backup restore "$KEPT"/{alice,bob,carol}.released \
        --expect "$PUBLISHED_IDENTITY" --passcode-fd 3 3<<<"$FIRST_CODE"
    note "the same files again: $(last_line)"
    at_second_home stop_supervision
}

# at_second_home WORD...: runs it with the second home in the place of the first.
at_second_home() {
    local -x COFFER_HOME=$SECOND_HOME
    local SUPERVISE=$SECOND_HOME/supervise
    "$@"
}
