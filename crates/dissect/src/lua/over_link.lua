function proto.dissector(tvb, pinfo, tree)
  packet = new_packet(tvb)
  parse(packet.net)
  show_packet(pinfo, tree)
  return tvb:captured_len()
end

-- In captures of packets that begin with the program's own header.
DissectorTable.get("wtap_encap"):add(wtap.USER0, proto)
