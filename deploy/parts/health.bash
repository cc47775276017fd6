# How the services are: probes, waiting for them, and the table.

# probe SERVICE: how it is, in a few words; the code is that of its own probe.
probe() {
    local code=0 words
    words=$(timeout 10 "$BIN/$1" probe --home "$COFFER_HOME" 2>&1) || code=$?
    case $code in
    0) say healthy ;;
    6) say "not reachable" ;;
    124) say "no answer" ;;
    *) say "not healthy: ${words##*$'\n'}" ;;
    esac
    return "$code"
}

# wait_healthy MILLISECONDS SERVICE...: says which are not in time, with the end of their logs.
wait_healthy() {
    local deadline=$(($(now_ms) + $1)) service words failed=0
    shift
    for service in "$@"; do
        until words=$(probe "$service"); do
            if [ "$(now_ms)" -ge "$deadline" ]; then
                complain "$service is ${words%.}. The end of its log:"
                tail -n 8 "$COFFER_HOME/log/$service/current" >&2 || true
                failed=1
                break
            fi
            sleep 0.05
        done
    done
    return "$failed"
}

# Prints a line a service; succeeds only when all are healthy.
print_table() {
    local service pid up health failed=0
    local row='%-22s %-9s %-9s %-15s %s\n'
    # shellcheck disable=SC2059 # the format is ours
    printf "$row" service pid up health endpoint
    for service in "${SERVICES[@]}"; do
        pid=$(service_pid "$service")
        up=-
        if [ -n "$pid" ]; then up="$(seconds_up "$pid") s"; fi
        health=$(probe "$service") || failed=1
        # shellcheck disable=SC2059
        printf "$row" "$service" "${pid:--}" "$up" "$health" "$(endpoint "$service")"
    done
    return "$failed"
}
