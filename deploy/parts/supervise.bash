# Supervision with runit: a folder a service under <home>/supervise, and one runsvdir for them all.

# Writes what runit needs: how to run each service, and how its log is kept.
write_supervision() {
    local service log
    for service in "${SERVICES[@]}"; do
        log=$COFFER_HOME/log/$service
        mkdir -p "$SUPERVISE/$service/log" "$log"
        # Ten files of a megabyte each.
        write_if_changed "$log/config" 600 $'s1000000\nn10\n'
        write_if_changed "$SUPERVISE/$service/run" 700 "#!/bin/sh
exec 2>&1
exec $(quoted "$BIN/$service") serve --home $(quoted "$COFFER_HOME")
"
        write_if_changed "$SUPERVISE/$service/log/run" 700 "#!/bin/sh
exec svlogd -tt $(quoted "$log")
"
    done
}

# write_if_changed PATH MODE TEXT: whole or not at all.
write_if_changed() {
    # The command substitution would drop the last line feed: compare with it kept.
    if [ -f "$1" ] && [ "$(cat "$1" && printf x)" = "$3x" ]; then return; fi
    printf '%s' "$3" >"$1.new"
    chmod "$2" "$1.new"
    mv "$1.new" "$1"
}

# quoted TEXT: as one word of a POSIX shell.
quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# Starts runsvdir in a session of its own, with nothing of ours open, and notes which process it is.
start_supervisor() {
    supervisor_pid >/dev/null && return
    # shellcheck disable=SC2016 # expanded by the shell that becomes runsvdir
    env -i PATH="$PATH" LANG=C.UTF-8 setsid bash -c '
        for fd in /proc/$$/fd/*; do
            fd=${fd##*/}
            [ "$fd" -le 2 ] || eval "exec $fd>&-"
        done
        cd /
        umask 077
        read -r stat </proc/$$/stat
        read -ra fields <<<"${stat##*) }"
        printf "%s %s\n" "$$" "${fields[19]}" >"$1/.pid.new"
        mv "$1/.pid.new" "$1/.pid"
        # It would wait a second for more changes to a folder that changed just now.
        touch -d "10 seconds ago" "$1"
        exec runsvdir -P "$1"' supervisor "$SUPERVISE" </dev/null >/dev/null 2>&1 &
    disown
    local deadline=$(($(now_ms) + 5000))
    until supervisor_pid >/dev/null; do
        [ "$(now_ms)" -lt "$deadline" ] || die "$EXIT_FAILED" "runsvdir did not start."
        sleep 0.02
    done
}

# The pid of this home's runsvdir, if the process that was noted is still the same one.
supervisor_pid() {
    local pid tick
    { read -r pid tick <"$SUPERVISE/.pid"; } 2>/dev/null || return 1
    [ "$(start_tick "$pid")" = "$tick" ] && belongs_to_home "$pid" || return 1
    printf '%s\n' "$pid"
}

# Asks runit to run what is not running, once its helpers listen.
start_services() {
    local service deadline=$(($(now_ms) + 8000))
    for service in "${SERVICES[@]}"; do
        until sv up "$SUPERVISE/$service" >/dev/null 2>&1; do
            [ "$(now_ms)" -lt "$deadline" ] ||
                die "$EXIT_FAILED" "runsv does not answer for $service."
            sleep 0.05
        done
    done
}

# service_pid SERVICE: empty where it does not run.
service_pid() { cat "$SUPERVISE/$1/supervise/pid" 2>/dev/null || true; }

# Ends every service, its log and its helper, then the supervisor; what does not end is killed.
stop_supervision() {
    local supervisor service folders=() left
    # The supervisor first: it would start again the helpers that are told to end.
    if supervisor=$(supervisor_pid); then
        kill -TERM "$supervisor"
        wait_gone 2000 "$supervisor" || true
    fi
    for service in "${SERVICES[@]}"; do
        if [ -e "$SUPERVISE/$service/supervise/ok" ]; then folders+=("$SUPERVISE/$service"); fi
    done
    # Told to end, not waited for: `sv` itself looks only twice a second.
    if [ "${#folders[@]}" -gt 0 ]; then sv exit "${folders[@]}" >/dev/null 2>&1 || true; fi
    mapfile -t left < <(home_processes)
    [ "${#left[@]}" -eq 0 ] || wait_gone 8000 "${left[@]}" || kill_left
    rm -f "$SUPERVISE/.pid"
}

# Ends what nobody looks after: a supervisor that was killed leaves helpers, and a helper a service.
end_orphans() {
    if ! supervisor_pid >/dev/null; then
        stop_supervision
        return
    fi
    local pid orphans=()
    for pid in $(home_processes); do
        if is_orphan "$pid"; then orphans+=("$pid"); fi
    done
    [ "${#orphans[@]}" -gt 0 ] || return 0
    say "Ended, because nobody looked after them: ${orphans[*]}"
    kill -TERM "${orphans[@]}" 2>/dev/null || true
    wait_gone 5000 "${orphans[@]}" || kill -KILL "${orphans[@]}"
}

kill_left() {
    local left
    mapfile -t left < <(home_processes)
    [ "${#left[@]}" -gt 0 ] || return 0
    complain "did not end when asked, killed: ${left[*]}"
    kill -KILL "${left[@]}" 2>/dev/null || true
    wait_gone 2000 "${left[@]}" || die "$EXIT_FAILED" "still running: ${left[*]}"
}

# Removes sockets that a killed service left; to be called when no service runs.
remove_stale_sockets() {
    local run path service
    run=$(run_folder)
    for service in "${SERVICES[@]}"; do
        for path in "$run/$(socket_name "$service")"{,-events}.sock; do
            [ -S "$path" ] || continue
            rm -f "$path"
            say "Removed the stale socket $path."
        done
    done
}
