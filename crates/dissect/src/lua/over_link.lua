function proto.dissector(tvb, pinfo, tree)
  packet = new_packet(tvb)
  parse(packet.net)
  return show_claimed(tvb, pinfo, tree, nil)
end

-- In captures of packets that begin with the program's own header.
DissectorTable.get("wtap_encap"):add(wtap.USER0, proto)
