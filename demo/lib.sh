# SPDX-License-Identifier: MIT
# What both ways of the demo need: messages, packages, the table, and cleaning up.

failed=0
rows=()
children=()
namespaces=()
socket_folder=

say() { printf 'demo: %s\n' "$*" >&2; }

give_up() {
    say "$*"
    exit 3
}

# Stops what runs and removes what was made, in that order. Runs at every end.
clean_up() {
    local child name
    for child in "${children[@]}"; do
        stop "$child"
    done
    for name in "${namespaces[@]}"; do
        ip netns del "$name" 2>/dev/null || true
    done
    [ -z "$socket_folder" ] || rm -rf "$socket_folder"
    children=()
    namespaces=()
    socket_folder=
}

# Ends a child that we started and waits for it, so that its capture is whole; kills it if it does not end.
stop() {
    local tries
    kill -TERM "$1" 2>/dev/null || true
    for tries in $(seq 100); do
        kill -0 "$1" 2>/dev/null || break
        [ "$tries" -lt 100 ] || kill -KILL "$1" 2>/dev/null || true
        pause
    done
    wait "$1" 2>/dev/null || true
}

pause() { read -rt 0.05 <> <(:) || true; }

# Packages for the commands that are missing, by apt-get where we may use it.
install_missing() {
    local wanted=(gcc:gcc make:make curl:curl ip:iproute2 ethtool:ethtool sysctl:procps nginx:nginx-light) missing=() entry
    export PATH=$PATH:/usr/sbin:/sbin:$HOME/.cargo/bin
    for entry in "${wanted[@]}"; do
        command -v "${entry%%:*}" >/dev/null || missing+=("${entry##*:}")
    done
    [ -e /usr/include/stdlib.h ] || missing+=(libc6-dev)
    command -v cargo >/dev/null || give_up "cargo is missing: install it with rustup, see https://rustup.rs"
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        say "missing: ${missing[*]}"
        command -v gcc >/dev/null || give_up "a C compiler is needed: install gcc and libc6-dev"
        return
    fi
    say "installing ${missing[*]}"
    # nginx must not start here: the demo starts its own, in a namespace.
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get -qq install -y --no-install-recommends "${missing[@]}"; } >"$out/apt.log" 2>&1 ||
        give_up "apt-get could not install them; see $out/apt.log"
}

build_all() {
    say "building the compiler (the first time takes two or three minutes)"
    cargo build --profile demo --locked --quiet -p carrick-cli -p carrick-tests --bin carrick --bin recount
    say "compiling $program"
    "$carrick" build "$program" --target native -o "$built"
    [ -x "$host" ] || make --silent -C "$built"
}

# row WHAT SECONDS RETRANSMISSIONS FAULTS OK
row() {
    local rate
    rate=$(awk -v m="$mib" -v s="$2" 'BEGIN { printf "%.0f", (s > 0) ? m * 1048576 * 8 / s / 1e6 : 0 }')
    rows+=("$(printf '%-44s %8.2f s %8s Mbit/s %9s  %-34s %s' "$1" "$2" "$rate" "$3" "$4" "$5")")
    [ "$5" = ok ] || failed=1
    say "$1: $5"
}

print_table() {
    local line
    printf '\n%-44s %10s %15s %9s  %-34s %s\n' "$mib MiB each" time rate "sent anew" "faults, both ways" sha256
    for line in "${rows[@]}"; do
        printf '%s\n' "$line"
    done
    if [ -n "$(find "$out" -name '*.pcapng')" ]; then
        printf '\nCaptures, for Wireshark:\n'
        find "$out" -name '*.pcapng' | sort | sed 's/^/  /'
    fi
    [ "$failed" -eq 0 ] || printf '\nNot everything went well: what the stack said is in %s/*.log\n' "$out"
}

# ok if both files are the same, else what is wrong
same() {
    if [ ! -s "$2" ]; then
        echo "nothing arrived"
    elif [ "$(sha256sum <"$1")" = "$(sha256sum <"$2")" ]; then
        echo ok
    else
        echo differs
    fi
}

# Waits until a log says that its process is ready, or the process is gone: ten seconds, or so many looks.
wait_ready() {
    local log=$1 child=$2 tries
    for tries in $(seq "${3:-200}"); do
        grep -q -e listening -e 'serving sockets' "$log" 2>/dev/null && return 0
        kill -0 "$child" 2>/dev/null || break
        pause
    done
    give_up "the stack did not start: $(tail -n 2 "$log" | tr '\n' ' ')"
}

# How many segments with data `address` sent again, as a capture shows it.
sent_anew() {
    local counts
    counts=$("$target/demo/recount" "$1" "$2" 2>/dev/null) || counts="? ?"
    echo "${counts##* }"
}

faults_shown() { if [ -n "$1" ]; then echo "${1//,/, }"; else echo none; fi; }

seconds_now() { date +%s.%N; }

seconds_since() { awk -v a="$1" -v b="$(seconds_now)" 'BEGIN { printf "%.3f", b - a }'; }
