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

-- The routing headers before our packet.
local routing_header = Field.new("ipv6.routing")

-- Reads a segment routing header (RFC 8754 section 2) with a list of at most so many entries. Without one, the list is empty.
local function read_segments(most)
  local net, first = packet.net, routing_header()
  local octets = first and first.range:bytes():raw() or string.rep("\0", 8)
  local units, kind, left, last = octets:byte(2, 5)
  local count = last + 1
  if kind ~= 4 or count > most or 2 * count > units or left > count then
    octets, left, count = string.rep("\0", 8), 0, 0
  end
  net.segment_count, net.segments_left, net.segment_flags = count, left, octets:byte(6)
  net.segment_tag = octets:byte(7) * 256 + octets:byte(8)
  net.segments = {}
  for i = 1, most do
    local zero = { high = u64(0), low = u64(0) }
    net.segments[i] = i <= count and ipv6_address(octets, 16 * i - 7) or zero
  end
  packet.last_ip = left > 0 and net.segments[1] or nil
end

-- The sum over the pseudo-header of RFC 8200 section 8.1.
local function ipv6_pseudo_sum(protocol)
  local sum = protocol + #packet.octets
  for _, ip in ipairs({ packet.net.src_ip, packet.last_ip or packet.net.dst_ip }) do
    sum = sum + ip.high:higher() + ip.high:lower() + ip.low:higher() + ip.low:lower()
  end
  return sum
end
