function proto.dissector(tvb, pinfo, tree)
  packet = new_ipv6_packet(tvb)
  read_segments(SEGMENTS)
  parse(packet.net)
  show_packet(pinfo, tree)
  return tvb:captured_len()
end

-- IPv4 and IPv6 have one table of protocols.
DissectorTable.get("ip.proto"):add(PROTOCOL, proto)
