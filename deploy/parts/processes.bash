# Processes of a home, found in /proc and nowhere guessed.

# start_tick PID: when it started, in clock ticks since boot; with the pid this names one process.
start_tick() { stat_field "$1" 19; }

# is_orphan PID: whether it is a service or log of this home that no helper looks after.
is_orphan() {
    case $(program_of "$1") in runsvdir | runsv) return 1 ;; esac
    [ "$(program_of "$(stat_field "$1" 1)")" != runsv ]
}

program_of() { cat "/proc/$1/comm" 2>/dev/null || true; }

# stat_field PID NUMBER: of /proc/PID/stat, counted from the state, which is 0.
stat_field() {
    local stat fields
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    # The name stands in parentheses and may hold anything; the state follows it.
    read -ra fields <<<"${stat##*) }"
    printf '%s\n' "${fields[$2]}"
}

# seconds_up PID
seconds_up() {
    local start
    start=$(start_tick "$1") || return 1
    printf '%s\n' "$((($(now_ms) / 10 - start * 100 / $(getconf CLK_TCK)) / 100))"
}

# belongs_to_home PID: whether this home's supervisor, one of its helpers or a service runs there.
# Each `return` says what it returns: in a trap, one that does not would say what was before.
belongs_to_home() {
    local words
    mapfile -d '' -t words <"/proc/$1/cmdline" || return 1
    # One that ended and waits for its parent has no words left.
    [ "${#words[@]}" -gt 1 ] || return 1
    case ${words[0]##*/} in
    runsvdir) [ "${words[*]:1:2}" = "-P $SUPERVISE" ] ;;
    runsv) [ "$(readlink "/proc/$1/cwd")" = "$SUPERVISE/${words[1]}" ] ;;
    svlogd) [ "${words[2]:-}" = "$COFFER_HOME/log/$(basename "${words[2]:-}")" ] ;;
    *) [ "${words[*]:1:3}" = "serve --home $COFFER_HOME" ] ;;
    esac
} 2>/dev/null

# Every process of this home, one pid a line.
home_processes() {
    local folder
    for folder in /proc/[0-9]*; do
        if belongs_to_home "${folder#/proc/}"; then printf '%s\n' "${folder#/proc/}"; fi
    done
}

# wait_gone MILLISECONDS PID...: whether all of them end in time.
wait_gone() {
    local deadline=$(($(now_ms) + $1)) pid
    shift
    for pid in "$@"; do
        while [ -d "/proc/$pid" ] && belongs_to_home "$pid"; do
            [ "$(now_ms)" -lt "$deadline" ] || return 1
            sleep 0.02
        done
    done
}
