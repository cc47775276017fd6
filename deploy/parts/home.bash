# The home of an installation: where it is, its settings, and making it.

# Sets COFFER_HOME: as given, else $XDG_DATA_HOME/coffer, else ~/.local/share/coffer.
find_home() {
    HOME_IS_DEFAULT=
    if [ -z "${COFFER_HOME:-}" ]; then
        HOME_IS_DEFAULT=1
        COFFER_HOME=${XDG_DATA_HOME:-$HOME/.local/share}/coffer
    fi
    case $COFFER_HOME in
    /*) ;;
    *) die "$EXIT_USAGE" "COFFER_HOME is no absolute path: $COFFER_HOME" ;;
    esac
    COFFER_HOME=${COFFER_HOME%/}
    export COFFER_HOME
    SUPERVISE=$COFFER_HOME/supervise
}

# One `up`, `down` or `restart` of a home at a time. The lock is the folder itself, held through
# descriptor 9 until this script ends.
lock_home() {
    exec 9<"$COFFER_HOME"
    flock --nonblock 9 && return
    say "Another command is working on $COFFER_HOME; waiting for it."
    flock --timeout 120 9 || die "$EXIT_FAILED" "the other command took more than two minutes."
}

# Makes the folders, keys and settings that are missing, and takes the lock.
make_home() {
    # Whatever is made from here on is nobody else's.
    umask 077
    [ -d "$COFFER_HOME" ] || mkdir -p "$COFFER_HOME"
    # Before the lock, because the command takes the same one. A home of an earlier release has
    # fewer services: what it lacks is added.
    if ! has_keys; then
        "$BIN/coffer" init --run "$(chosen_run)" >/dev/null ||
            die "$EXIT_FAILED" "the home $COFFER_HOME could not be made."
    fi
    lock_home
    # A run folder in a runtime directory is gone after a reboot.
    local run
    run=$(run_folder)
    [ -d "$run" ] || mkdir -p "$run"
}

has_keys() {
    local name
    for name in "${SERVICES[@]}" coffer; do
        [ -e "$COFFER_HOME/keys/$name.key_secret" ] || return 1
    done
    # Entered last: one whose entry is missing was being made when the command was killed. The
    # command's own entry may have been taken out on purpose.
    for name in "${SERVICES[@]}"; do
        [ -e "$COFFER_HOME/peers/$name.key" ] || return 1
    done
}

# Where a new home has its sockets: the default home in the user's runtime directory, if there is
# one.
chosen_run() {
    local runtime=${XDG_RUNTIME_DIR:-}
    if [ -n "$HOME_IS_DEFAULT" ] && [ -n "$runtime" ] && [ -d "$runtime" ] && [ -w "$runtime" ]
    then
        printf '%s\n' "$runtime/coffer"
    else
        printf '%s\n' "$COFFER_HOME/run"
    fi
}

run_folder() { setting run "$COFFER_HOME/run"; }

# endpoint SERVICE: where it listens.
endpoint() { setting "endpoint.$1" "ipc://$(run_folder)/$(socket_name "$1").sock"; }

socket_name() {
    case $1 in
    attempt-limiter) say limiter ;;
    credential-authority) say authority ;;
    wallet-vault) say vault ;;
    backup-shares) say shares ;;
    migration) say migration ;;
    esac
}

# setting NAME DEFAULT: its value in coffer.conf.
setting() {
    local line name value=$2
    if [ -r "$COFFER_HOME/coffer.conf" ]; then
        while IFS= read -r line || [ -n "$line" ]; do
            line=${line%%#*}
            name=$(trimmed "${line%%=*}")
            [ "$name" = "$1" ] || continue
            value=$(trimmed "${line#*=}")
        done <"$COFFER_HOME/coffer.conf"
    fi
    printf '%s\n' "$value"
}

trimmed() {
    local text=$1
    text=${text#"${text%%[![:space:]]*}"}
    text=${text%"${text##*[![:space:]]}"}
    printf '%s\n' "$text"
}
