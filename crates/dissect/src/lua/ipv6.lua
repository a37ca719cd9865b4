-- The IPv6 header before our packet.
local ipv6_header = Field.new("ipv6")

-- Of an address its high and its low half.
local function ipv6_address(octets, at)
  return {
    high = u64(be32(octets, at + 4), be32(octets, at)),
    low = u64(be32(octets, at + 12), be32(octets, at + 8)),
  }
end

local function new_ipv6_packet(tvb)
  local new = new_packet(tvb)
  local headers = { ipv6_header() }
  local net = headers[#headers] and headers[#headers].range:bytes():raw() or string.rep("\0", 40)
  new.net_octets = #headers > 0 and net or nil
  new.net.src_ip, new.net.dst_ip = ipv6_address(net, 9), ipv6_address(net, 25)
  new.net.protocol, new.net.ttl = PROTOCOL, net:byte(8)
  new.net.tos = net:byte(1) % 16 * 16 + math.floor(net:byte(2) / 16)
  return new
end

-- The sum over the pseudo-header of RFC 8200 section 8.1.
local function ipv6_pseudo_sum(protocol)
  local sum = protocol + #packet.octets
  for _, ip in ipairs({ packet.net.src_ip, packet.net.dst_ip }) do
    sum = sum + ip.high:higher() + ip.high:lower() + ip.low:higher() + ip.low:lower()
  end
  return sum
end
