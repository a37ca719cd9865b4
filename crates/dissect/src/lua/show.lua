-- Puts something found into the tree, with all that is in it.
local function show(tree, part)
  local what = f[part.path] or proto
  local range = part.len and packet.tvb(part.from, part.len)
  local item
  if part.little then
    item = tree:add_le(what, range)
  elseif range and part.value ~= nil then
    item = tree:add(what, range, part.value)
  elseif range then
    item = tree:add(what, range)
  elseif part.value ~= nil then
    item = tree:add(what, part.value)
  else
    item = tree:add(what)
  end
  if part.text then item:append_text(": " .. part.text) end
  if part.generated then item:set_generated() end
  for _, found in ipairs(part.problems or {}) do
    if found.text then
      item:add_proto_expert_info(x[found.kind], found.text)
    else
      item:add_proto_expert_info(x[found.kind])
    end
  end
  for _, inner in ipairs(part) do show(item, inner) end
  return item
end

-- A header in a line: what is set of it, and its larger numbers, but not its checksums.
local function brief(part)
  local words = { part.path }
  for _, inner in ipairs(part) do
    if inner.word and #inner == 0 then table.insert(words, inner.path:match("[^.]+$") .. inner.word) end
  end
  return table.concat(words, " ")
end

local function show_packet(pinfo, tree)
  local top = { path = "", from = 0, len = #packet.octets, problems = packet.problems }
  local names = {}
  for _, part in ipairs(packet.headers) do
    table.insert(names, brief(part))
    table.insert(top, part)
  end
  local left = packet.to - packet.from
  if #packet.headers > 1 and left > 0 and not packet.refused then
    table.insert(top, { path = "what-is-left", from = packet.from, len = left })
  end
  for _, raised in ipairs(packet.events) do
    local part = { path = raised.name, generated = true }
    show_event[raised.name](part, raised.event)
    table.insert(top, part)
  end
  local info = table.concat(names, ", ")
  if packet.refused then
    table.insert(top, { path = "refused-for", value = packet.refused, generated = true })
    info = info .. " [" .. packet.refused .. "]"
  elseif #packet.events == 0 then
    problem(top, "unparsed")
    info = info .. " [unparsed]"
  end
  show(tree, top)
  pinfo.cols.protocol = proto.name:upper()
  pinfo.cols.info = info
end

-- Wireshark's own dissector of the protocol, if it has one.
local others = DissectorTable.get("ip.proto"):get_dissector(PROTOCOL)

-- Calls a dissector of Wireshark's own. For a packet that ends too early it raises an error of Lua, when what it has read is shown.
local function call(dissector, tvb, pinfo, tree)
  local fine, why = pcall(dissector.call, dissector, tvb, pinfo, tree)
  if not fine then tree:add(tvb(0, tvb:captured_len()), "[" .. tostring(why):match("[^:]*$") .. "]") end
  return tvb:captured_len()
end

-- What the parser does not claim is left to a dissector that shows it as ever, if there is one.
local function show_claimed(tvb, pinfo, tree, otherwise)
  -- Where the parser asked for what no capture tells, a packet with its headers may be the program's.
  local claimed = packet.claimed or packet.undecided and #packet.headers > 0 and not packet.refused
  if otherwise and not claimed then return call(otherwise, tvb, pinfo, tree) end
  show_packet(pinfo, tree)
  return tvb:captured_len()
end
