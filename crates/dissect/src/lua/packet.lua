-- The packet at hand, and what is found out about it.
local packet

-- The IPv4 header before our packet, and the capture's number of the interface.
local network_header = Field.new("ip")
local interface_id = Field.new("frame.interface_id")

local function be32(octets, at)
  local a, b, c, d = octets:byte(at, at + 3)
  return ((a * 0x100 + b) * 0x100 + c) * 0x100 + d
end

local function new_packet(tvb)
  local headers = { network_header() }
  local len = tvb:captured_len()
  local octets = len > 0 and tvb:raw(0, len) or ""
  local new = { tvb = tvb, octets = octets, whole = tvb:reported_len() == len, problems = {} }
  local net = headers[#headers] and headers[#headers].range:bytes():raw() or ""
  if #net >= 20 then
    new.net_octets = net
    new.net = { src_ip = be32(net, 13), dst_ip = be32(net, 17), protocol = net:byte(10), ttl = net:byte(9), tos = net:byte(2) }
  else
    new.net = { src_ip = 0, dst_ip = 0, protocol = 0, ttl = 0, tos = 0 }
  end
  local interface = interface_id()
  new.net.interface = interface and math.min(interface.value, 254) or 0
  new.net.payload_len = tvb:reported_len() % 0x10000
  new.from, new.to = 0, len
  new.headers, new.events = {}, {}
  return new
end

-- What is odd about the packet, or about one of the parts shown.
local function problem(part, kind, text)
  part.problems = part.problems or {}
  table.insert(part.problems, { kind = kind, text = text })
end

-- The program's parser would ask for what no capture tells.
local function unknown(what)
  packet.undecided = true
  if not packet.refused then problem(packet, "unknown", what .. " is unknown; 0 is used") end
  return 0
end

-- `p.left()`
local function left()
  return u64(packet.to - packet.from)
end

-- `p.peek()`
local function peek()
  return packet.from < packet.to and packet.octets:byte(packet.from + 1) or 0
end

-- A packet that the program drops is its own too, if the parser would have raised an event.
local function raise(name, event)
  packet.claimed = true
  if not packet.refused then table.insert(packet.events, { name = name, event = event }) end
end

local function claim(holds, text)
  if not holds and not packet.refused then problem(packet, "claim", "the program claims " .. text) end
end

-- What a header that ended too early lacks is as it is at first.
local function complete(h, initial)
  for name, value in pairs(initial) do
    if h[name] == nil then
      h[name] = value
    elseif type(value) == "table" then
      complete(h[name], value)
    end
  end
end

-- Reads a header, or a frame, unless the program has dropped the packet. The parser goes on then, but only to show whether
-- the packet is the program's.
local function take(read, initial, h)
  if packet.refused then return end
  read(h)
  if packet.refused then complete(h, initial()) end
end

-- What reads a header of a packet, or a frame, octet after octet, and keeps what is to be shown of it.
local Reader = {}
Reader.__index = Reader

local function open(path, frame)
  if not frame then
    -- A parser that reads a packet anew has only now found out what it is.
    packet.headers, packet.from, packet.to = {}, 0, #packet.octets
  end
  local part = { path = path, from = packet.from, len = packet.to - packet.from }
  local reader = { frame = frame, begin = packet.from, at = packet.from, to = packet.to, part = part, into = part, parts = {} }
  table.insert(packet.headers, part)
  return setmetatable(reader, Reader)
end

-- The program drops the packet; the first reason counts.
function Reader:refuse(why)
  -- What seems to be missing is perhaps only missing in the capture.
  if not packet.whole then why = "cut" end
  packet.refused = packet.refused or why
  problem(self.into, why)
  return false
end

function Reader:has(octets)
  return self.at + octets <= self.to
end

function Reader:skip(octets)
  self.at = self.at + octets
end

-- Something to be shown; `value` if Wireshark does not read it itself.
function Reader:add(path, from, len, value)
  local part = { path = path, from = from, len = len, value = value }
  table.insert(self.into, part)
  self.parts[path] = part
  return part
end

-- A field of up to 32 bits, or of more as UInt64; `bit` counts from where the reader is. Behind the packet's end it is 0.
function Reader:field(path, bit, width)
  local first = math.floor(bit / 8)
  local octets = math.ceil((bit + width) / 8) - first
  if self.at + first + octets > self.to then return width > 32 and UInt64.new(0) or 0 end
  local value = packet.tvb(self.at + first, octets):bitfield(bit % 8, width)
  local part = self:add(path, self.at + first, octets, (octets > 4 and octets * 8 > width) and value or nil)
  if width == 1 and value == 1 then part.word = "" end
  local names = telling[path]
  if names or width >= 16 then part.word = "=" .. (names and names[value] or tostring(value)) end
  return value
end

-- A field that stands in the packet less a number, of the kind of that.
function Reader:based(path, bit, width, base)
  local first = math.floor(bit / 8)
  local octets = math.ceil((bit + width) / 8) - first
  if self.at + first + octets > self.to then return base end
  local raw = packet.tvb(self.at + first, octets):bitfield(bit % 8, width)
  local value = type(base) == "number" and base + raw or base + (type(raw) == "number" and u64(raw) or raw)
  local part = self:add(path, self.at + first, octets, value)
  if telling[path] then part.word = "=" .. tostring(value) end
  return value
end

-- The packet ends with its payload; what is behind is the link's, which pads what is short.
function Reader:cut(len, trailer)
  if len > u64(self.to - self.at - trailer) then return self:refuse("short") end
  self.to = self.at + len:tonumber() + trailer
  packet.octets = packet.octets:sub(1, self.to)
  packet.to = self.to
  return true
end

function Reader:flag(path, bit)
  return self:field(path, bit, 1) == 1
end

function Reader:signed(path, bit, width)
  return signed(self:field(path, bit, width), width)
end

-- A field of a type with 64 bits.
function Reader:wide(path, bit, width)
  local value = self:field(path, bit, width)
  return type(value) == "number" and u64(value) or value
end

-- A CRC-32: its least significant octet comes first.
function Reader:crc(path, bit)
  local at = self.at + bit / 8
  if at + 4 > self.to then return 0 end
  self:add(path, at, 4).little = true
  return packet.tvb(at, 4):le_uint()
end

-- A CRC-32 behind the payload.
function Reader:trailer(path)
  self.to = self.to - 4
  local part = { path = path, from = self.to, len = 4, little = true }
  self.parts[path], self.last = part, part
  return packet.tvb(self.to, 4):le_uint()
end

-- An integer of variable length (RFC 9000 section 16); none if the octets end before it does.
function Reader:varint(path)
  if not self:has(1) then return nil end
  local octets = ({ 1, 2, 4, 8 })[math.floor(packet.octets:byte(self.at + 1) / 64) + 1]
  if not self:has(octets) then return nil end
  local value = packet.tvb(self.at, octets):bitfield(2, octets * 8 - 2)
  value = type(value) == "number" and u64(value) or value
  self:add(path, self.at, octets, value).word = "=" .. tostring(value)
  self.at = self.at + octets
  return value
end

-- The payload: so many octets of what is left. None if there are not as many.
function Reader:payload(path, len)
  if len > u64(self.to - self.at) then
    self:refuse("short")
    return nil
  end
  local from, octets = self.at, len:tonumber()
  if octets > 0 and path then self:add(path, from, octets).word = "=" .. octets end
  self.at = from + octets
  -- The payload of a packet is there to be taken apart into frames.
  packet.from, packet.to = self.frame and self.at or from, self.to
  return { addr = { at = from, len = octets }, len = len }
end

-- A computed field: what the program would send.
function Reader:expect(path, found, computed)
  if found ~= computed and packet.whole then
    problem(self.parts[path], "computed", "the program would send " .. tostring(computed))
  end
end

function Reader:close()
  if self.last then table.insert(self.part, self.last) end
  self.part.len = self.at - self.begin + (self.last and 4 or 0)
end
