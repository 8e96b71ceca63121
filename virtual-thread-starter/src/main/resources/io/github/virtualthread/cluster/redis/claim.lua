-- What the members of a cluster claim, and what they are lent: the rules of ClusterEngine, for all claims of one member at once.
--
-- KEYS     one hash for each limit: field 'epoch', field 'no-growth-until', and for each member a field 'member:<name>' with
--          'holds wants permits over number'. Names are fields of their own, so they may have any characters.
-- ARGV[1]  name of the member
-- ARGV     then for each key: number (19 digits), epoch, permits, holds, wants, asks, lease in milliseconds
--
-- Returns { 0 } and for each key: share, permits, epoch, now, number of others, and for each of these: name, holds, wants, permits.
-- Returns { i } if claim i comes late; then nothing is stored.
--
-- Reads the time and then writes, so it needs Redis 5 or later.

local ARGUMENTS, HOUR = 7, 60 * 60 * 1000
local me = ARGV[1]

-- The time of the server is the only one that counts.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function read(key)
  local limit = { noGrowthUntil = 0, latest = 0, others = {} }
  local stored = redis.call('HGETALL', key)
  for i = 1, #stored, 2 do
    local field, value = stored[i], stored[i + 1]
    if field == 'epoch' then
      limit.epoch = value
    elseif field == 'no-growth-until' then
      limit.noGrowthUntil = tonumber(value)
    else
      local name = string.sub(field, #'member:' + 1)
      local holds, wants, permits, over, number = string.match(value, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
      if tonumber(over) <= now then
        redis.call('HDEL', key, field) -- its lease is over: what it held is free
      elseif name == me then
        limit.number = number
      else
        limit.latest = math.max(limit.latest, tonumber(over))
        table.insert(limit.others, {
          name = name, holds = tonumber(holds), wants = tonumber(wants), permits = tonumber(permits),
        })
      end
    end
  end
  return limit
end

local function claim(i)
  local at = 2 + (i - 1) * ARGUMENTS
  return {
    number = ARGV[at], epoch = ARGV[at + 1], permits = tonumber(ARGV[at + 2]), holds = tonumber(ARGV[at + 3]),
    wants = tonumber(ARGV[at + 4]), asks = tonumber(ARGV[at + 5]), lease = tonumber(ARGV[at + 6]),
  }
end

-- A claim that was held up must not lower what the member has been lent since. All are checked before one is stored. As text:
-- a number of Lua has no room for all digits.
local limits, claims = {}, {}
for i, key in ipairs(KEYS) do
  limits[i], claims[i] = read(key), claim(i)
  if limits[i].number and claims[i].number <= limits[i].number then
    return { i }
  end
end

local answer = { 0 }
for i, key in ipairs(KEYS) do
  local limit, mine = limits[i], claims[i]
  local over = now + mine.lease

  -- A limit without an epoch is new, or its data were lost.
  if not limit.epoch then
    limit.epoch = now .. '-' .. time[2] .. '-' .. me
    redis.call('HSET', key, 'epoch', limit.epoch)
  end
  -- The member knows another epoch: others may hold what they have not told yet. They do so while this lease lasts.
  if mine.epoch ~= '' and mine.epoch ~= limit.epoch and over > limit.noGrowthUntil then
    limit.noGrowthUntil = over
    redis.call('HSET', key, 'no-growth-until', over)
  end

  -- The smallest number that a living member says counts, less what the others hold.
  local permits, held = mine.permits, 0
  for _, other in ipairs(limit.others) do
    permits = math.min(permits, other.permits)
    held = held + other.holds
  end

  -- What it holds is never taken from it.
  local share = mine.holds
  if now >= limit.noGrowthUntil then
    share = math.max(share, math.min(mine.asks, permits - held))
  end

  if mine.lease > 0 then
    local row = table.concat({ share, mine.wants, mine.permits, over, mine.number }, ' ')
    redis.call('HSET', key, 'member:' .. me, row)
  elseif #limit.others > 0 or now < limit.noGrowthUntil then
    redis.call('HDEL', key, 'member:' .. me)
  else
    redis.call('HDEL', key, 'member:' .. me, 'epoch', 'no-growth-until') -- keys of calls come and go: nothing is left of them
  end
  -- The limit may be forgotten an hour after its last claim, but not while a lease lasts.
  local latest = math.max(limit.latest, over, limit.noGrowthUntil)
  redis.call('PEXPIRE', key, math.max(HOUR, latest - now))

  for _, value in ipairs({ share, permits, limit.epoch, now, #limit.others }) do
    table.insert(answer, value)
  end
  for _, other in ipairs(limit.others) do
    for _, value in ipairs({ other.name, other.holds, other.wants, other.permits }) do
      table.insert(answer, value)
    end
  end
end
return answer
