# SPDX-License-Identifier: MIT
# The demo over a veth pair: the compiled program at one end, the kernel at the other.

readonly ns_ours=carrick-demo-$$-a
readonly ns_peer=carrick-demo-$$-b
readonly device=wire0
readonly ours=10.79.0.1
readonly peer=10.79.0.2
readonly bad_wire=loss=1%,reorder=2%,dup=1%

in_ours() { ip netns exec "$ns_ours" "$@"; }
in_peer() { ip netns exec "$ns_peer" "$@"; }

# Succeeds if namespaces and a veth pair can be made here; else says why not.
try_wire() {
    local said
    if [ -n "${DEMO_PLAIN:-}" ]; then
        echo "DEMO_PLAIN is set"
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "network namespaces need root"
        return 1
    fi
    if ! said=$(ip netns add "$ns_ours" 2>&1 && ip -n "$ns_ours" link add "$device" type veth peer name other0 2>&1); then
        ip netns del "$ns_ours" 2>/dev/null || true
        echo "$said" | tail -n 1
        return 1
    fi
    ip netns del "$ns_ours"
}

make_wire() {
    local ns
    namespaces=("$ns_ours" "$ns_peer")
    ip netns add "$ns_ours"
    ip netns add "$ns_peer"
    ip -n "$ns_ours" link add "$device" type veth peer name "$device" netns "$ns_peer"
    for ns in "$ns_ours" "$ns_peer"; do
        # Each packet of its own, with its checksum: what a wire would carry.
        ip netns exec "$ns" ethtool -K "$device" tso off gso off gro off tx off rx off >/dev/null
        ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 || true
        ip -n "$ns" link set lo up
        ip -n "$ns" link set "$device" up
    done
    ip -n "$ns_peer" addr add "$peer/24" dev "$device"
}

show_on_the_wire() {
    make_wire
    serve "clean" ""
    serve "bad" "$bad_wire"
    start_nginx "$peer" "$out/nginx" ip netns exec "$ns_peer"
    fetch "clean" ""
    fetch "bad" "$bad_wire"
}

# serve NAME FAULTS: our HTTP server, curl downloads from it and uploads to it.
serve() {
    local name=$1 faults=$2 log=$out/serve-$1.log capture=$out/serve-$1.pcapng child began seconds before
    # Not by way of a function: what runs in the background must be the stack itself, for a signal to reach it.
    ip netns exec "$ns_ours" "$host" --port "packet:$device" --addr "$ours/24" --app "http:$out/www" \
        --pcap "$capture" ${faults:+--fault "$faults,seed=1"} >"$log" 2>&1 &
    child=$!
    children+=("$child")
    wait_ready "$log" "$child"

    began=$(seconds_now)
    in_peer curl -sS --fail --max-time 300 -o "$out/got/down-$name.bin" "http://$ours/data.bin" 2>>"$log" || true
    seconds=$(seconds_since "$began")
    down_row=("our server -> curl" "$seconds" "$(same "$out/www/data.bin" "$out/got/down-$name.bin")")

    before=$(peer_retransmissions)
    began=$(seconds_now)
    in_peer curl -sS --fail --max-time 300 -T "$out/www/data.bin" "http://$ours/up-$name.bin" >>"$log" 2>&1 || true
    seconds=$(seconds_since "$began")
    up_again=$(($(peer_retransmissions) - before))
    stop "$child"
    row "${down_row[0]}" "${down_row[1]}" "$(sent_anew "$capture" "$ours")" "$(faults_shown "$faults")" "${down_row[2]}"
    row "curl -> our server" "$seconds" "$up_again" "$(faults_shown "$faults")" \
        "$(same "$out/www/data.bin" "$out/www/up-$name.bin")"
}

# What the peer's kernel has sent again so far.
peer_retransmissions() {
    in_peer awk '/^Tcp:/ { if (!n) { for (i = 1; i <= NF; i++) if ($i == "RetransSegs") n = i } else print $n }' /proc/net/snmp
}

# start_nginx ADDRESS DIR COMMAND...: nginx, unmodified, started by a command that runs what follows it.
start_nginx() {
    local address=$1 dir=$2
    shift 2
    mkdir -p "$dir"
    cat >"$dir/nginx.conf" <<EOF
user root;
pid $dir/nginx.pid;
error_log $dir/error.log;
events { }
http {
    access_log off;
    client_body_temp_path $dir/a;
    proxy_temp_path $dir/b;
    fastcgi_temp_path $dir/c;
    uwsgi_temp_path $dir/d;
    scgi_temp_path $dir/e;
    server { listen $address:80; root $out/www; }
}
EOF
    "$@" nginx -p "$dir" -c "$dir/nginx.conf" -g 'daemon off;' >"$dir/nginx.log" 2>&1 &
    children+=("$!")
    in_peer curl -sS --retry 20 --retry-connrefused --retry-delay 1 -o /dev/null "http://$address/" 2>/dev/null || true
}

# fetch NAME FAULTS: our downloader gets the file from nginx.
fetch() {
    local name=$1 faults=$2 log=$out/fetch-$1.log capture=$out/fetch-$1.pcapng began seconds before
    before=$(peer_retransmissions)
    began=$(seconds_now)
    in_ours timeout 300 "$host" --port "packet:$device" --addr "$ours/24" \
        --app "get:http://$peer/data.bin:$out/got/nginx-$name.bin" --pcap "$capture" \
        ${faults:+--fault "$faults,seed=2"} >"$log" 2>&1 || true
    seconds=$(seconds_since "$began")
    row "nginx -> our downloader" "$seconds" "$(($(peer_retransmissions) - before))" "$(faults_shown "$faults")" \
        "$(same "$out/www/data.bin" "$out/got/nginx-$name.bin")"
}
