-- A value of its own: tables would be shared.
local function copy(value)
  if type(value) ~= "table" then return value end
  local made = {}
  for key, part in pairs(value) do made[key] = copy(part) end
  return made
end

local function same(a, b)
  for key, part in pairs(a) do
    local equal = part == b[key]
    if type(part) == "table" then equal = same(part, b[key]) end
    if not equal then return false end
  end
  return true
end

-- An array or list of n elements.
local function filled(n, element)
  local made = {}
  for i = 1, n do made[i] = copy(element) end
  return made
end

-- An element, counted from 0; what it is outside.
local function element(list, i, outside)
  local found = list[i + 1]
  if found == nil then return outside end
  return found
end

-- Sets an element if there is one.
local function put(list, i, value)
  if i < #list then list[i + 1] = value end
end

local function list_add(list, most, value)
  if #list < most then list[#list + 1] = value end
end

local function list_insert(list, most, i, value)
  if #list < most then table.insert(list, math.min(i, #list) + 1, value) end
end

local function list_remove(list, i)
  if i < #list then table.remove(list, i + 1) end
end

local function list_pop(list, none)
  if #list == 0 then return none end
  return table.remove(list, 1)
end

local function list_clear(list)
  for i = #list, 1, -1 do list[i] = nil end
end

-- The address so many octets further on, not past its end.
local function skip(addr, n)
  if not addr then return addr end
  local by = math.min(n:tonumber(), addr.len)
  return { at = addr.at + by, len = addr.len - by }
end

-- A field of an event.
local function found(part, path, value)
  table.insert(part, { path = path, value = value, generated = true })
end

-- The same number as Wireshark's signed one.
local function int64(n)
  return Int64.new(n:lower(), n:higher())
end
