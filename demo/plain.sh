# SPDX-License-Identifier: MIT
# The demo without privileges: in the simulator, and over UDP between two processes.

readonly sim_faults=(--loss 1% --reorder 2% --duplicate 1%)
readonly udp_faults=loss=1%,reorder=2%,dup=1%

show_in_the_simulator() {
    simulate clean none
    simulate bad "loss=1%, reorder=2%, dup=1%" "${sim_faults[@]}"
}

# simulate NAME SHOWN FLAGS...: bytes are checked by the simulator's own applications.
simulate() {
    local name=$1 shown=$2 log=$out/sim-$1.json result=failed seconds
    shift 2
    "$carrick" sim "$program" --bytes "${mib}MiB" --rate 100Mbps --delay 10ms --seed 7 "$@" \
        --pcap "$out/sim-$name.pcapng" --format json >"$log" 2>"$out/sim-$name.log" && result=ok
    seconds=$(awk -v ns="$(field completion_ns "$log")" 'BEGIN { printf "%.3f", ns / 1e9 }')
    row "simulated, 100 Mbit/s, 10 ms" "$seconds" "$(field retransmitted_packets "$log")" "$shown" "$result"
}

# The number that a JSON object gives for a key; 0 if it has none.
field() {
    local value
    value=$(sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" "$2" | tail -n 1)
    echo "${value:-0}"
}

show_over_udp() {
    over_udp clean ""
    over_udp bad "$udp_faults"
}

# over_udp NAME FAULTS: our server and our downloader, packets inside UDP datagrams on 127.0.0.1.
over_udp() {
    local name=$1 faults=$2 log=$out/udp-$1.log child began seconds
    "$host" --port udp:47011:47012 --addr 10.79.1.1/24 --app "http:$out/www" \
        ${faults:+--fault "$faults,seed=3"} --pcap "$out/udp-$name.pcapng" >"$log" 2>&1 &
    child=$!
    children+=("$child")
    wait_ready "$log" "$child"
    began=$(seconds_now)
    timeout 300 "$host" --port udp:47012:47011 --addr 10.79.1.2/24 \
        --app "get:http://10.79.1.1/data.bin:$out/got/udp-$name.bin" >>"$log" 2>&1 || true
    seconds=$(seconds_since "$began")
    stop "$child"
    row "over UDP, our server -> our downloader" "$seconds" "$(sent_anew "$out/udp-$name.pcapng" 10.79.1.1)" \
        "$(faults_shown "$faults")" "$(same "$out/www/data.bin" "$out/got/udp-$name.bin")"
}
