# The main job, walked in a throw-away home: every step says what it proves and checks it.

# One line a step: its function, and what it shows. Those marked `wait` take a cooldown of a minute
# and are left out by --no-wait.
readonly STEPS=(
    "services_start          |Services start under supervision and are healthy."
    "passcode_is_set         |A passcode is set, once."
    "wallet_is_created       |A wallet of 24 words is made inside the vault."
    "wallet_is_imported      |A published phrase is imported and has its published identity."
    "session_opens           |The passcode opens a session: wallets are listed and checked."
    "phrase_is_shown         |The phrase is shown again, after the passcode, and is the same."
    "signatures_verify       |Signatures verify with OpenSSL, which knows nothing of Coffer."
    "wrong_code_is_counted   |A wrong passcode is refused and counted; the right one lowers it."
    "passcode_is_changed     |After a change the old passcode is refused; the new opens all."
    "lock_ends_session       |Lock ends the session."
    "killed_service_is_back  |A service that is killed is healthy again within a second."
    "restart_forgets_nothing |A restart of everything forgets no wallet and no identity."
    "shares_are_handed_out   |A wallet is split: a sealed share for each of three holders."
    "damaged_share_is_named  |One changed letter in a share is noticed, and its holder named."
    "shares_restore_the_wallet |From three whole shares a second home has the same wallet."
    "legacy_wallets_are_told_apart |Wallets of a legacy app: listed, reset, and undetermined."
    "migration_is_killed     |Services and command are killed while wallets are taken in."
    "migration_goes_on       |Begun again, it takes in the rest, and no wallet twice."
    "migration_is_verified   |All that was taken in verifies, and the source is unchanged."
    "six_tries_then_cooldown |After six wrong passcodes a cooldown refuses the right one too."
    "kill_does_not_help      |Killing limiter and authority ends no cooldown and no count."
    "cooldown_ends      wait |After the cooldown the right passcode opens and drops the count."
    "no_secret_is_left_about |No passcode and no phrase is in a log or a command line."
    "services_stop           |Everything stops: no process and no socket is left."
)

. "$DEPLOY/parts/demo-backup.bash"
. "$DEPLOY/parts/demo-migration.bash"

# Test codes and a phrase that everybody knows.
readonly FIRST_CODE='tide-lantern-4417' SECOND_CODE='amber-quarry-9052'
readonly WRONG_CODE='wrong-guess-7730'
readonly PUBLISHED_PHRASE="$(printf 'abandon %.0s' {1..11})about"
readonly PUBLISHED_IDENTITY=03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494

demo() {
    local waiting=1
    case ${1:-} in
    '') ;;
    --no-wait) waiting= ;;
    *) die "$EXIT_USAGE" "the demo takes --no-wait and nothing else." ;;
    esac
    local begun built
    begun=$(now_ms)
    install_packages build run demo
    build_programs
    built=$(now_ms)
    COFFER_HOME=$(mktemp -d "${TMPDIR:-/tmp}/coffer-demo.XXXXXX")
    export COFFER_HOME
    find_home
    WAITED_MS=0 STEP='' PASSCODE=$FIRST_CODE
    trap end_demo EXIT
    trap 'exit 130' INT TERM
    walk "$waiting"
    local ended
    ended=$(now_ms)
    say ""
    say "All steps passed. Packages and build took $(seconds $((built - begun))), the steps" \
        "$(seconds $((ended - built - WAITED_MS))), and $(seconds "$WAITED_MS") were waited beside."
    STEP=''
}

walk() {
    local line function mark title begun number=0
    say "A throw-away home: $COFFER_HOME"
    for line in "${STEPS[@]}"; do
        read -r function mark <<<"${line%%|*}"
        title=${line#*|}
        if [ -n "$mark" ] && [ -z "$1" ]; then continue; fi
        number=$((number + 1))
        STEP="$number. $title"
        printf '\n%s\n' "$STEP"
        begun=$(now_ms)
        "$function"
        say "   passed in $(seconds $(($(now_ms) - begun)))"
    done
}

# Whatever happens, nothing of the demo goes on running.
end_demo() {
    local code=$?
    trap - EXIT INT TERM
    if [ -n "$STEP" ]; then complain "FAILED at step $STEP"; fi
    if [ -n "${SECOND_HOME:-}" ]; then at_second_home stop_supervision >/dev/null 2>&1 || true; fi
    stop_supervision >/dev/null 2>&1 || true
    if [ -n "${KEEP:-}" ]; then
        say "Kept: $COFFER_HOME"
    else
        rm -rf -- "$COFFER_HOME"
    fi
    exit "$code"
}

# A line of what was seen.
note() { say "   $*"; }

fail() {
    complain "$@"
    exit "$EXIT_FAILED"
}

# The command without a terminal, so that it never asks the person who watches.
coffer() { env -u DISPLAY -u WAYLAND_DISPLAY setsid -w "$BIN/coffer" "$@"; }

# expect CODE WORD...: runs the command, keeps what it printed in OUT, and ends the demo if its exit
# code is another.
expect() {
    local wanted=$1 code=0
    shift
    OUT=$(coffer "$@" 2>&1) || code=$?
    [ "$code" -eq "$wanted" ] && return
    fail "\`coffer $*\` ended with $code and not with $wanted: $OUT"
}

# field NAME: the plain value of a member in the JSON that was printed last.
field() {
    local pattern="\"$1\":\"?([^\",}]*)"
    [[ $OUT =~ $pattern ]] || fail "there is no $1 in $OUT"
    printf '%s\n' "${BASH_REMATCH[1]}"
}

# same WHAT ONE OTHER
same() { [ "$2" = "$3" ] || fail "$1 differ: $2 and $3"; }

services_start() {
    make_home
    bring_up
    print_table | sed 's/^/   /'
}

passcode_is_set() {
    expect 0 passcode set --kind alphanumeric --passcode-fd 3 3<<<"$PASSCODE"
    note "set"
    expect 7 passcode set --kind alphanumeric --passcode-fd 3 3<<<"$SECOND_CODE"
    note "a second first passcode is refused"
}

wallet_is_created() {
    expect 0 wallet create --words 24 --label made --json --passcode-fd 3 3<<<"$PASSCODE"
    MADE=$(field wallet) MADE_IDENTITY=$(field identity)
    same "words" "$(field words)" 24
    note "identity $MADE_IDENTITY, 24 words"
}

wallet_is_imported() {
    expect 0 wallet import --label published --json --passcode-fd 3 --phrase-fd 4 \
        3<<<"$PASSCODE" 4<<<"$PUBLISHED_PHRASE"
    IMPORTED=$(field wallet)
    same "identities" "$(field identity)" "$PUBLISHED_IDENTITY"
    note "identity $PUBLISHED_IDENTITY, as published"
}

session_opens() {
    expect 0 unlock --passcode-fd 3 3<<<"$PASSCODE"
    expect 0 wallet list --json --passcode-fd 3 3<<<"$PASSCODE"
    wallets_are_listed
    expect 0 wallet check "$IMPORTED" --json --passcode-fd 3 3<<<"$PASSCODE"
    same "identities" "$(field identity)" "$PUBLISHED_IDENTITY"
    note "two wallets listed; the imported one opens and has its identity"
}

# Whether the list in OUT has both wallets with their identities.
wallets_are_listed() {
    local word
    for word in "$MADE" "$MADE_IDENTITY" "$IMPORTED" "$PUBLISHED_IDENTITY"; do
        [[ $OUT == *"$word"* ]] || fail "$word is not listed: $OUT"
    done
}

phrase_is_shown() {
    local phrase
    phrase=$(reveal "$IMPORTED")
    same "phrases" "$phrase" "$PUBLISHED_PHRASE"
    note "the imported phrase, word for word"
    MADE_PHRASE=$(reveal "$MADE")
    same "words" "$(wc -w <<<"$MADE_PHRASE")" 24
    note "24 words of the wallet that was made"
}

# reveal WALLET: its phrase, which leaves through a descriptor of its own.
reveal() {
    coffer wallet reveal "$1" --passcode-fd 3 --phrase-out-fd 4 \
        3<<<"$PASSCODE" 4>&1 >/dev/null || fail "the phrase was not shown"
}

signatures_verify() {
    local message=$COFFER_HOME/message key signature
    printf 'a message' >"$message"
    expect 0 wallet sign "$IMPORTED" --scheme ed25519 --path "m/44'/501'/0'" --json \
        --message-file "$message" --passcode-fd 3 3<<<"$PASSCODE"
    signature_verifies "$message" "$(ed25519_key "$(field public_key)")" "$(field signature)" ||
        fail "OpenSSL does not verify the Ed25519 signature"
    note "Ed25519 at m/44'/501'/0': verified"
    expect 0 wallet sign "$IMPORTED" --scheme secp256k1 --path "m/44'/0'/0'/0/0" --json \
        --hash sha256 --message-file "$message" --passcode-fd 3 3<<<"$PASSCODE"
    openssl dgst -sha256 -binary "$message" >"$message.digest"
    key=$(secp256k1_key "$(field public_key)") signature=$(ecdsa_der "$(field signature)")
    signature_verifies "$message.digest" "$key" "$signature" ||
        fail "OpenSSL does not verify the ECDSA signature"
    note "secp256k1 at m/44'/0'/0'/0/0: verified"
    # The control: another digest.
    printf 'another message' | openssl dgst -sha256 -binary >"$message.digest"
    if signature_verifies "$message.digest" "$key" "$signature"; then
        fail "OpenSSL takes the signature for another message too"
    fi
    note "and for another message they do not"
}

wrong_code_is_counted() {
    expect 3 unlock --passcode-fd 3 3<<<"$WRONG_CODE"
    note "wrong: $(last_line)"
    same "counts" "$(failed_tries)" 1
    expect 0 unlock --passcode-fd 3 3<<<"$PASSCODE"
    same "counts" "$(failed_tries)" 0
    note "counted one; the right passcode dropped it"
}

failed_tries() {
    expect 0 passcode status --json
    field failed
}

# What the command said last.
last_line() {
    local line=${OUT##*$'\n'}
    say "${line#coffer: }"
}

passcode_is_changed() {
    expect 0 passcode change --passcode-fd 3 --new-passcode-fd 4 \
        3<<<"$PASSCODE" 4<<<"$SECOND_CODE"
    expect 3 unlock --passcode-fd 3 3<<<"$PASSCODE"
    note "the old passcode is refused"
    PASSCODE=$SECOND_CODE
    expect 0 unlock --passcode-fd 3 3<<<"$PASSCODE"
    expect 0 wallet check "$MADE" --json --passcode-fd 3 3<<<"$PASSCODE"
    same "identities" "$(field identity)" "$MADE_IDENTITY"
    note "the new one opens the same wallet"
}

lock_ends_session() {
    expect 0 unlock --passcode-fd 3 3<<<"$PASSCODE"
    expect 0 lock
    note "$(last_line)"
    expect 0 passcode status --json
    same "sessions" "$(field sessions) $(field unlocked)" "0 false"
    # Nothing was kept either: without a terminal to ask on, the passcode must be given.
    expect 5 wallet check "$MADE"
    note "no session is left, and the passcode is asked for again"
}

killed_service_is_back() {
    local begun
    # One that has run for a second is started again at once.
    sleep 1
    begun=$(now_ms)
    kill -KILL "$(service_pid wallet-vault)"
    wait_healthy 5000 wallet-vault
    local took=$(($(now_ms) - begun))
    [ "$took" -lt 1000 ] || fail "it took $took ms"
    note "wallet-vault killed, and healthy after $took ms"
}

restart_forgets_nothing() {
    stop_supervision
    bring_up
    expect 0 unlock --passcode-fd 3 3<<<"$PASSCODE"
    expect 0 wallet list --json --passcode-fd 3 3<<<"$PASSCODE"
    wallets_are_listed
    same "phrases" "$(reveal "$MADE")" "$MADE_PHRASE"
    note "both wallets with their identities, and the phrase"
}

six_tries_then_cooldown() {
    local try
    for try in 1 2 3 4 5 6; do
        expect 3 unlock --passcode-fd 3 3<<<"$WRONG_CODE"
    done
    note "six wrong passcodes ($try), each evaluated and counted"
    expect 4 unlock --passcode-fd 3 3<<<"$PASSCODE"
    note "the right one: $(last_line)"
    COOLDOWN_BEGAN_MS=$(now_ms)
}

kill_does_not_help() {
    kill -KILL "$(service_pid attempt-limiter)" "$(service_pid credential-authority)"
    wait_healthy 5000 attempt-limiter credential-authority
    expect 4 unlock --passcode-fd 3 3<<<"$PASSCODE"
    note "both killed and back: $(last_line)"
    same "counts" "$(failed_tries)" 6
    note "still six"
}

cooldown_ends() {
    local begun remaining
    begun=$(now_ms)
    remaining=$((COOLDOWN_BEGAN_MS + 60500 - begun))
    note "waiting $(seconds "$remaining")"
    sleep "$((remaining / 1000 + 1))"
    WAITED_MS=$((WAITED_MS + $(now_ms) - begun))
    expect 0 unlock --passcode-fd 3 3<<<"$PASSCODE"
    same "counts" "$(failed_tries)" 0
    note "open, and the count is dropped"
}

no_secret_is_left_about() {
    local secrets=$COFFER_HOME/secrets found
    {
        printf '%s\n' "$FIRST_CODE" "$SECOND_CODE" "$WRONG_CODE" "${PASSPHRASES[@]}"
        printf '%s\n' "$PUBLISHED_PHRASE" "$MADE_PHRASE"
        cat "$LEGACY/phrases"
    } >"$secrets"
    # The control: what is planted is found.
    printf 'a line with %s\n' "$SECOND_CODE" >"$COFFER_HOME/log/planted"
    found=$(places_with_secrets "$secrets")
    same "places" "$found" "$COFFER_HOME/log/planted"
    rm "$COFFER_HOME/log/planted"
    (exec -a "$FIRST_CODE" sleep 30) &
    local planted=$!
    sleep 0.1
    found=$(places_with_secrets "$secrets")
    kill "$planted"
    same "places" "$found" "/proc/$planted/cmdline"
    note "planted in a log and in a command line, a passcode is found"
    found=$(places_with_secrets "$secrets")
    [ -z "$found" ] || fail "a secret is in $found"
    note "without the plants there is none in any log, command line or environment"
}

# places_with_secrets FILE: logs, command lines and environments that hold a line of it.
places_with_secrets() {
    {
        grep -rlaF -f "$1" "$COFFER_HOME/log" "$SECOND_HOME/log" || true
        # Programs that read the secrets here have the file's name and not its lines.
        grep -laF -f "$1" /proc/[0-9]*/cmdline || true
        home_processes | sed 's|.*|/proc/&/environ|' | xargs -r grep -laF -f "$1" || true
    } 2>/dev/null
}

services_stop() {
    stop_supervision
    remove_stale_sockets
    same "processes" "$(home_processes)" ""
    same "sockets" "$(find "$(run_folder)" -type s)" ""
    note "no process, no socket"
}
