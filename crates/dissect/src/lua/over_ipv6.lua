function proto.dissector(tvb, pinfo, tree)
  packet = new_ipv6_packet(tvb)
  parse(packet.net)
  return show_claimed(tvb, pinfo, tree, others)
end

-- IPv4 and IPv6 have one table of protocols.
DissectorTable.get("ip.proto"):add(PROTOCOL, proto)
