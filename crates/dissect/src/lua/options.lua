-- One option, whose octets are there.
function Reader:option(known, options, len)
  local list, begin = self.into, self.at
  self.into = self:add(known.name, begin, len)
  local found = options[known.name]
  found.valid = true
  local fine = known.read(self, found, len)
  self.into, self.at = list, begin + len
  return fine
end

-- The elements in the octets from `first` on, each read by `element`; nil if there cannot be so many.
function Reader:elements(first, octets, size, least, most, element)
  if octets % size ~= 0 or octets < least * size or octets > most * size then return nil end
  local list = {}
  for i = 0, octets / size - 1 do list[i + 1] = element((first + i * size) * 8) end
  return list
end

function Reader:unknown_option(kind, len)
  self:add("unknown-option", self.at, len).text = "option of kind " .. tostring(kind)
  self.at = self.at + len
end

-- Options with an octet for the kind and one for the length, up to `to`; false if they are malformed.
function Reader:short_options(known, options, to)
  while self.at < to do
    local kind, len = packet.octets:byte(self.at + 1, self.at + 2)
    local option = known[kind]
    if kind == 0 then
      self:add("end-of-options", self.at, to - self.at)
      return true
    elseif option and option.len == 1 then
      self:option(option, options, 1)
    else
      if self.at + 2 > to or len < 2 or self.at + len > to then return false end
      local known_kind = option ~= nil
      if option and option.of_len then option = option.of_len[len] end
      if not option then
        if known_kind then return false end
        self:unknown_option(kind, len)
      elseif option.len and len ~= option.len then
        return false
      else
        self:option(option, options, len)
      end
    end
  end
  return true
end

-- Options whose kind and length are integers of variable length.
function Reader:wide_options(known, options, to)
  local limit = self.to
  self.to = to
  while self.at < to do
    local begin = self.at
    local kind, len = self:varint("option-kind"), self:varint("option-length")
    if not kind or not len or len > u64(to - self.at) then return false end
    local octets = len:tonumber()
    local option = known[tostring(kind)]
    self.to = self.at + octets
    if not option then
      self:unknown_option(kind, octets)
    elseif not self:option(option, options, octets) then
      return false
    end
    self.to = to
  end
  self.to = limit
  return true
end

-- A list of options up to `to`.
function Reader:options(path, walk, known, options, to)
  local outer = self.into
  self.into = self:add(path, self.at, to - self.at)
  local fine = walk(self, known, options, to)
  if not fine then self:refuse("bad_options") end
  self.into, self.at = outer, to
  return fine
end
