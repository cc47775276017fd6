# Signatures verified by OpenSSL, which knows nothing of Coffer.

# Public keys as OpenSSL reads them (SubjectPublicKeyInfo), from and to hex.
ed25519_key() { say "302a300506032b6570032100$1"; }
secp256k1_key() { say "3036301006072a8648ce3d020106052b8104000a032200$1"; }

# ecdsa_der HEX: r and s of 32 bytes each as the DER sequence that OpenSSL reads.
ecdsa_der() {
    local body
    body=$(der_integer "${1:0:64}")$(der_integer "${1:64:64}")
    printf '30%02x%s\n' "$((${#body} / 2))" "$body"
}

der_integer() {
    local digits=$1
    while [[ $digits == 00?* && $((16#${digits:2:1})) -lt 8 ]]; do digits=${digits:2}; done
    if [ "$((16#${digits:0:1}))" -ge 8 ]; then digits=00$digits; fi
    printf '02%02x%s' "$((${#digits} / 2))" "$digits"
}

# signature_verifies FILE KEY SIGNATURE: Ed25519 over the file, or ECDSA over the digest in it.
signature_verifies() {
    local options=()
    # Ed25519 takes the message itself.
    if [[ $2 == 302a* ]]; then options=(-rawin); fi
    openssl pkeyutl -verify "${options[@]}" -in "$1" -pubin -keyform DER \
        -inkey <(from_hex "$2") -sigfile <(from_hex "$3") >/dev/null 2>&1
}

from_hex() {
    local escaped
    escaped=$(sed 's/../\\x&/g' <<<"$1")
    printf '%b' "$escaped"
}
