# Debian packages: which are missing, and their installation.

# listed_packages WHEN...: the names that deploy/packages lists for these times.
listed_packages() {
    local name when _
    while read -r name when _; do
        case $name in '' | '#'*) continue ;; esac
        case " $* " in *" $when "*) printf '%s\n' "$name" ;; esac
    done <"$DEPLOY/packages"
}

# missing_packages WHEN...: those of them that are not installed.
missing_packages() {
    local name
    listed_packages "$@" | while read -r name; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true) in
        installed) ;;
        *) printf '%s\n' "$name" ;;
        esac
    done
}

# install_packages WHEN...: installs what is missing as root; for anybody else prints the line to
# run, and ends.
install_packages() {
    if ! command -v dpkg-query >/dev/null; then
        complain "this is no Debian: the counterparts of deploy/packages are taken to be there."
        return
    fi
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        complain "Debian packages are missing. Run this once, then this command again:"
        say "sudo apt-get install --no-install-recommends ${missing[*]}"
        exit "$EXIT_REFUSED"
    fi
    say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
