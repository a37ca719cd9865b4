-- Frames of others are shown as ever.
local ethernet = DissectorTable.get("wtap_encap"):get_dissector(wtap.ETHERNET)

function proto.dissector(tvb, pinfo, tree)
  packet = new_packet(tvb)
  parse(packet.net)
  if packet.refused or #packet.headers == 0 then return ethernet:call(tvb, pinfo, tree) end
  show_packet(pinfo, tree)
  return tvb:captured_len()
end

-- Frames that are the program's from their first octet on.
DissectorTable.get("wtap_encap"):add(wtap.ETHERNET, proto)
