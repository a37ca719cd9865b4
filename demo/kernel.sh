# SPDX-License-Identifier: MIT
# The demo with the program in the kernel: over the same wire, but the state of all connections is behind XDP.

# So much of what comes to the peer is lost at its device: the program's frames pass no queue that could lose them.
readonly bad_way="loss=1% to the peer"

show_in_the_kernel() {
    command -v clang >/dev/null || give_up "target xdp needs clang: apt-get install clang"
    make_wire
    ip -n "$ns_ours" addr add "$ours/24" dev "$device"
    lose_one_in 0
    serve_from_the_kernel
    serve_unmodified
    start_nginx "$peer" "$out/nginx" ip netns exec "$ns_peer"
    fetch_into_the_kernel "clean" ""
    lose_one_in 100
    fetch_into_the_kernel "bad" "$bad_way"
}

# The peer's device loses one frame in so many, 0 for none.
lose_one_in() {
    in_peer scripts/let-frames-back "$device" "$1"
}

# Runs an application over the program in the kernel: its arguments are those of the application.
in_the_kernel() {
    exec ip netns exec "$ns_ours" "$target/release/carrick" run "$program" --target xdp --port "$device" \
        --addr "$ours/24" "$@"
}

serve_from_the_kernel() {
    local log=$out/serve.log child name faults
    (in_the_kernel --app "http:$out/www") >"$log" 2>&1 &
    child=$!
    children+=("$child")
    wait_ready "$log" "$child" 2400 # it is compiled first
    for name in clean bad; do
        faults=
        [ "$name" = clean ] || { faults=$bad_way && lose_one_in 100; }
        curl_down "our server -> curl" "$name" "$faults" "$log"
        curl_up "$name" "$faults" "$log"
    done
    lose_one_in 0
    stop "$child"
}

# nginx, which knows nothing of us, with sockets of the program in the kernel.
serve_unmodified() {
    local log=$out/sockets.log door=$out/door child name faults
    (in_the_kernel --app "sockets:$door") >"$log" 2>&1 &
    child=$!
    children+=("$child")
    wait_ready "$log" "$child" 2400
    start_nginx "$ours" "$out/nginx-ours" ip netns exec "$ns_ours" env \
        LD_PRELOAD="$built/libcarrick-sockets.so" CARRICK_SOCKETS="$door"
    for name in clean bad; do
        faults=
        [ "$name" = clean ] || { faults=$bad_way && lose_one_in 100; }
        curl_down "nginx, unmodified, in the kernel -> curl" "$name" "$faults" "$log"
    done
    lose_one_in 0
    stop "${children[-1]}"
    stop "$child"
}

curl_down() {
    local title=$1 name=$2 faults=$3 log=$4 began
    rm -f "$out/got/down-$name.bin"
    began=$(seconds_now)
    in_peer curl -sS --fail --max-time 300 -o "$out/got/down-$name.bin" "http://$ours/data.bin" 2>>"$log" || true
    row "$title" "$(seconds_since "$began")" "-" "$(faults_shown "$faults")" \
        "$(same "$out/www/data.bin" "$out/got/down-$name.bin")"
}

curl_up() {
    local name=$1 faults=$2 log=$3 began before
    before=$(peer_retransmissions)
    began=$(seconds_now)
    in_peer curl -sS --fail --max-time 300 -T "$out/www/data.bin" "http://$ours/up-$name.bin" >>"$log" 2>&1 || true
    row "curl -> our server" "$(seconds_since "$began")" "$(($(peer_retransmissions) - before))" \
        "$(faults_shown "$faults")" "$(same "$out/www/data.bin" "$out/www/up-$name.bin")"
}

# fetch_into_the_kernel NAME FAULTS: our downloader gets the file from nginx; from its first octet to its last, since the
# program is compiled first.
fetch_into_the_kernel() {
    local name=$1 faults=$2 log=$out/fetch-$1.log got=$out/got/nginx-$1.bin before seconds
    before=$(peer_retransmissions)
    (in_the_kernel --app "get:http://$peer/data.bin:$got") >"$log" 2>&1 || true
    seconds=$(stat -c '%.Y %.W' "$got" 2>/dev/null | awk '{ printf "%.3f", $1 - $2 }')
    row "nginx -> our downloader" "${seconds:-0}" "$(($(peer_retransmissions) - before))" "$(faults_shown "$faults")" \
        "$(same "$out/www/data.bin" "$got")"
}
