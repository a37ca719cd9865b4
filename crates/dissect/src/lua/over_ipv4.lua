function proto.dissector(tvb, pinfo, tree)
  packet = new_packet(tvb)
  parse(packet.net)
  return show_claimed(tvb, pinfo, tree, others)
end

DissectorTable.get("ip.proto"):add(PROTOCOL, proto)

-- The same packets in UDP datagrams, with their IPv4 header and nothing else.
local function in_udp(tvb, pinfo, tree)
  local len = tvb:captured_len()
  if len < 20 or tvb(0, 1):bitfield(0, 4) ~= 4 or tvb(2, 2):uint() ~= tvb:reported_len() or tvb(9, 1):uint() ~= PROTOCOL then
    return false
  end
  local header = tvb(0, 1):bitfield(4, 4) * 4
  if header < 20 or header > len or sum16(tvb:raw(0, header), 0) ~= 0xffff then
    return false
  end
  call(Dissector.get("ip"), tvb, pinfo, tree)
  return true
end

proto:register_heuristic("udp", in_udp)
