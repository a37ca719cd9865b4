-- Numbers of up to 32 bits are Lua's own; longer ones are UInt64, signed ones of these in two's complement.
local u64 = UInt64.new

-- How many numbers so many bits can tell apart.
local power = { [8] = 0x100, [16] = 0x10000, [32] = 0x100000000 }

-- Operators on the bits of numbers: a library of Lua 5.2, or operators of later ones.
local bits = bit32 or {
  band = load("return function(a, b) return a & b end")(),
  bor = load("return function(a, b) return a | b end")(),
  bxor = load("return function(a, b) return a ~ b end")(),
}

-- The low bits of a number as a signed one.
local function signed(n, width)
  n = n % power[width]
  return n < power[width] / 2 and n or n - power[width]
end

-- A signed number with 64 bits.
local function s64(n)
  return n < 0 and u64(0) - u64(-n) or u64(n)
end

-- The low bits of one with 64 bits.
local function low(n, width)
  return n:lower() % power[width]
end

local function band(a, b)
  return bits.band(a % 0x100000000, b % 0x100000000)
end

local function bor(a, b)
  return bits.bor(a % 0x100000000, b % 0x100000000)
end

local function bxor(a, b)
  return bits.bxor(a % 0x100000000, b % 0x100000000)
end

-- The product's low 32 bits.
local function mul(a, b)
  return (u64(a % 0x100000000) * u64(b % 0x100000000)):lower()
end

-- Toward zero; 0 by 0.
local function div(a, b)
  if b == 0 then return 0 end
  local q = a / b
  return q < 0 and 0 - math.floor(-q) or math.floor(q)
end

-- With the sign of a; a by 0.
local function rem(a, b)
  if b == 0 then return a end
  return a - b * div(a, b)
end

local function shl(a, n, width)
  if n >= width then return 0 end
  return math.floor(a * 2 ^ n % power[width])
end

local function shr(a, n)
  return math.floor(a / 2 ^ math.min(n, 63))
end

-- Serial order: the distance from a to b is in 1..2^31.
local function seq_less(a, b)
  return (a - b) % 0x100000000 > 0x7fffffff
end

local function div64(a, b)
  return b == u64(0) and b or a / b
end

local function rem64(a, b)
  return b == u64(0) and a or a % b
end

local function shl64(a, n)
  return n >= 64 and u64(0) or a:lshift(n)
end

local function shr64(a, n)
  return n >= 64 and u64(0) or a:rshift(n)
end

-- Whether it is below zero as a signed number.
local function negative(a)
  return a:higher() >= 0x80000000
end

local function less64s(a, b)
  if negative(a) ~= negative(b) then return negative(a) end
  return a < b
end

local function abs64s(a)
  return negative(a) and u64(0) - a or a
end

local function div64s(a, b)
  local q = div64(abs64s(a), abs64s(b))
  return negative(a) ~= negative(b) and u64(0) - q or q
end

local function rem64s(a, b)
  local r = rem64(abs64s(a), abs64s(b))
  return negative(a) and u64(0) - r or r
end

local function shr64s(a, n)
  n = math.min(n, 63)
  return negative(a) and a:bnot():rshift(n):bnot() or a:rshift(n)
end

-- One of two: Lua's `and`, `or` take a false one for none.
local function choose(cond, a, b)
  if cond then return a end
  return b
end

-- How many turns a loop from a number to another makes.
local function turns(any, distance, most)
  if not any then return 0 end
  return math.min(type(distance) == "number" and distance or distance:tonumber(), most)
end
