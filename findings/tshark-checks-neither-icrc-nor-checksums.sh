#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tshark shows RoCEv2's invariant CRC and never checks it, and checks TCP's checksum only if it is told to. Two good packets and the same two with one
# damaged bit in the payload.
# Expected by most: the damaged ones are marked. Seen: nothing differs; `-o tcp.check_checksum:TRUE` marks the TCP segment, and there is no such
# option for the ICRC. scapy, which also computes it, tells the packets apart.
# Versions: Debian 12's tshark 4.0.17-0+deb12u3, PyPI's scapy 2.8.0.
. "$(dirname "$0")/packages"

tshark_4_0_17
python3 -m pip install -q --no-deps --target packages scapy==2.8.0 2> pip.log || { cat pip.log >&2; exit 3; }
PYTHONPATH=packages python3 - <<'PY'
from scapy.all import IP, TCP, UDP, Raw, raw, wrpcap
from scapy.contrib.roce import BTH

ends = IP(src="192.0.2.1", dst="192.0.2.2")
rocev2 = raw(ends / UDP(sport=49152, dport=4791) / BTH(opcode=4, dqpn=17, psn=1) / Raw(bytes(16)))
segment = raw(ends / TCP(sport=40000, dport=5001, flags="A", seq=1, ack=1) / Raw(bytes(16)))


def damaged(packet, at):
    return packet[:at] + bytes([packet[at] ^ 1]) + packet[at + 1:]


wrpcap("packets.pcap", [IP(rocev2), IP(damaged(rocev2, -8)), IP(segment), IP(damaged(segment, -1))])
right = [IP(packet)[BTH].compute_icrc(packet[40:-4]) == packet[-4:] for packet in (rocev2, damaged(rocev2, -8))]
assert right == [True, False], right
PY
tshark() {
    "$folder/root/usr/bin/tshark" -n -r packets.pcap -T fields "$@" 2> /dev/null
}
problems() {
    tshark -e _ws.expert.message "$@" | grep -n -i -E "icrc|crc|checksum" | cut -d: -f1 | tr '\n' ' '
}
"$folder/root/usr/bin/tshark" --version 2> /dev/null | head -1
echo "expected by most: packets 2 and 4 are marked"
echo "seen: by default '$(problems)', with -o tcp.check_checksum:TRUE '$(problems -o tcp.check_checksum:TRUE)'"
if [ "$(tshark -e infiniband.invariant.crc | grep -c 0x)" = 2 ] && [ -z "$(problems)" ] && [ "$(problems -o tcp.check_checksum:TRUE)" = "4 " ]; then echo "as found"; else echo "this has changed"; exit 1; fi
