-- The sum of the 16-bit words of some octets in ones' complement (RFC 1071).
local function sum16(octets, sum)
  for i = 1, #octets - 1, 2 do
    local a, b = octets:byte(i, i + 1)
    sum = sum + a * 0x100 + b
  end
  if #octets % 2 == 1 then sum = sum + octets:byte(#octets) * 0x100 end
  while sum > 0xffff do
    sum = sum % 0x10000 + math.floor(sum / 0x10000)
  end
  return sum
end

-- The sum over the pseudo-header of RFC 9293 section 3.1.
local function pseudo_sum(protocol)
  return packet.net.src_ip + packet.net.dst_ip + protocol + #packet.octets
end

-- Which checksums decide whether the program drops a packet: those that somebody computed, all, or none.
local CHECKS = { computed = 1, all = 2, none = 3 }
proto.prefs.checksums = Pref.enum("Checksums", CHECKS.computed,
  "Which wrong checksums drop a packet. An unfinished one is 0, or the sum of the pseudo-header alone",
  { { 1, "computed", CHECKS.computed }, { 2, "all", CHECKS.all }, { 3, "none", CHECKS.none } }, true)

-- Says of a checksum whether it is right: true, false, or nil where the capture does not tell. A sender that leaves checksums
-- to its device has the sum of the pseudo-header there, and a simulator 0: such a packet was not damaged.
function Reader:verdict(path, right, found, pseudo)
  if not packet.whole then right = nil end
  local status = right == nil and 2 or right and 1 or 0
  if status == 0 and (found == 0 or pseudo and found == sum16("", pseudo)) then status = 3 end
  table.insert(self.parts[path], { path = path .. ".status", value = status, generated = true })
  local kind = ({ [0] = "bad_checksum", [3] = "unfinished" })[status]
  if not kind then return end
  problem(self.parts[path], kind)
  local checks = proto.prefs.checksums
  if checks == CHECKS.all or checks == CHECKS.computed and status == 0 then
    packet.refused = packet.refused or "bad_checksum"
  end
end

-- The remainders of all octets.
local crc_table = {}
for octet = 0, 255 do
  local rest = octet
  for _ = 1, 8 do
    rest = rest % 2 == 1 and bxor(math.floor(rest / 2), 0xedb88320) or math.floor(rest / 2)
  end
  crc_table[octet] = rest
end

-- The CRC-32 of IEEE 802.3.
local function crc32(octets)
  local crc = 0xffffffff
  for i = 1, #octets do
    crc = bxor(math.floor(crc / 0x100), crc_table[bxor(crc % 0x100, octets:byte(i))])
  end
  return 0xffffffff - crc
end

-- Octets of which some bits count as ones.
local function masked(octets, mask)
  local made = {}
  for i = 1, #octets do
    made[i] = string.char(bor(octets:byte(i), mask[i - 1] or 0))
  end
  return table.concat(made)
end

-- Octets of which four, from `at` on, count as zeros.
local function without(octets, at)
  return octets:sub(1, at) .. "\0\0\0\0" .. octets:sub(at + 5)
end
