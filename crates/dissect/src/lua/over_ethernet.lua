local ethernet = DissectorTable.get("wtap_encap"):get_dissector(wtap.ETHERNET)

function proto.dissector(tvb, pinfo, tree)
  packet = new_packet(tvb)
  parse(packet.net)
  return show_claimed(tvb, pinfo, tree, ethernet)
end

-- Frames that are the program's from their first octet on.
DissectorTable.get("wtap_encap"):add(wtap.ETHERNET, proto)
