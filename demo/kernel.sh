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
    on_both_wires fetch_into_the_kernel
}

# The peer's device loses one frame in so many, 0 for none.
lose_one_in() {
    in_peer scripts/enable-veth-redirect "$device" "$1"
}

# Runs an application over the program in the kernel: its arguments are those of the application.
in_the_kernel() {
    exec ip netns exec "$ns_ours" "$carrick" run "$program" --target xdp --port "$device" \
        --addr "$ours/24" "$@"
}

serve_from_the_kernel() {
    run_in_the_kernel "$out/serve.log" --app "http:$out/www"
    on_both_wires down_and_up
    stop "${children[-1]}"
}

down_and_up() {
    curl_down "our server -> curl" "$1" "$2" "$out/serve.log"
    curl_up "$1" "$2" "$out/serve.log"
}

# nginx, which knows nothing of us, with sockets of the program in the kernel.
serve_unmodified() {
    # Not below $out: whoever owns this folder could replace the socket.
    socket_folder=$(mktemp -d)
    chmod 755 "$socket_folder"
    local door=$socket_folder/door
    run_in_the_kernel "$out/sockets.log" --app "sockets:$door"
    start_nginx "$ours" "$out/nginx-ours" ip netns exec "$ns_ours" env \
        LD_PRELOAD="$built/libcarrick-sockets.so" CARRICK_SOCKETS="$door"
    on_both_wires down_unmodified
    stop "${children[-1]}"
    stop "${children[-2]}"
}

down_unmodified() {
    curl_down "nginx, unmodified, in the kernel -> curl" "$1" "$2" "$out/sockets.log"
}

# run_in_the_kernel LOG ARGUMENTS...: begins an application as the newest child, and waits until it is ready.
run_in_the_kernel() {
    local log=$1
    shift
    (in_the_kernel "$@") >"$log" 2>&1 &
    children+=("$!")
    wait_ready "$log" "${children[-1]}" 2400 # it is compiled first
}

# on_both_wires FUNCTION: with a name for each wire, and its faults.
on_both_wires() {
    "$1" clean ""
    lose_one_in 100
    "$1" bad "$bad_way"
    lose_one_in 0
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

# fetch_into_the_kernel NAME FAULTS: our downloader gets the file from nginx; from its first byte to its last, since the
# program is compiled first.
fetch_into_the_kernel() {
    local name=$1 faults=$2 log=$out/fetch-$1.log got=$out/got/nginx-$1.bin before seconds
    before=$(peer_retransmissions)
    (in_the_kernel --app "get:http://$peer/data.bin:$got") >"$log" 2>&1 || true
    seconds=$(stat -c '%.Y %.W' "$got" 2>/dev/null | awk '{ printf "%.3f", $1 - $2 }')
    row "nginx -> our downloader" "${seconds:-0}" "$(($(peer_retransmissions) - before))" "$(faults_shown "$faults")" \
        "$(same "$out/www/data.bin" "$got")"
}
