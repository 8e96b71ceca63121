-- What the members of a cluster claim, and what they are lent: the rules of ClusterEngine, for all claims of one member at once.
-- LimitLedger has the same rules, in Java. RedisClusterEngine says what goes in and out, and what is stored.

local ARGUMENTS, NEVER = 11, string.rep('0', 19)
local MONTH = 30 * 24 * 60 * 60 * 1000
local me = ARGV[1]

-- The time of the server is the only one that counts. Its run id is another one after a restart and after a failover.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''

local function text(number)
  return string.format('%.0f', number)
end

local function claim(i)
  local at = 2 + (i - 1) * ARGUMENTS
  local function number(n)
    return tonumber(ARGV[at + n])
  end
  return {
    number = ARGV[at], last = ARGV[at + 1], age = number(2), started = now - number(3), permits = number(4), replicas = number(5),
    holds = number(6), wants = number(7), asks = number(8), turn = number(9), lease = number(10),
  }
end

-- Nil if the value is none of a member.
local function row(value)
  local number, holds, wants, permits, since, claimed, lease, confirmed, started =
    string.match(value, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  return number and {
    number = number, holds = tonumber(holds), wants = tonumber(wants), permits = tonumber(permits), since = tonumber(since),
    claimed = tonumber(claimed), lease = tonumber(lease), confirmed = tonumber(confirmed), started = tonumber(started),
  }
end

local function line(member)
  return table.concat({ member.number, text(member.holds), text(member.wants), text(member.permits), text(member.since),
    text(member.claimed), text(member.lease), text(member.confirmed), text(member.started) }, ' ')
end

-- Returns nil and a field, if that was written by something else.
local function read(stored)
  local limit = { lostAt = 0, heldUpAt = 0, noGrowthUntil = 0, server = '', isNew = true, others = {} }
  limit.stepped, limit.forgotten = {}, {}
  for i = 1, #stored, 2 do
    local field, value = stored[i], stored[i + 1]
    if field == 'limit' then
      local lostAt, heldUpAt, noGrowthUntil, of = string.match(value, '^(%d+) (%d+) (%d+) (%w*)$')
      if not lostAt then
        return nil, field
      end
      limit.isNew, limit.lostAt, limit.heldUpAt, limit.noGrowthUntil, limit.server =
        false, tonumber(lostAt), tonumber(heldUpAt), tonumber(noGrowthUntil), of
    else
      local name, member = string.match(field, '^member:(.*)$'), row(value)
      if not name or not member then
        return nil, field
      end
      -- The clock has stepped back: a lease ends as if it began now, and nobody knows how long ago an answer came.
      if member.claimed > now then
        member.since, member.claimed = math.min(member.since, now), now
        member.confirmed, member.started = now - member.lease, math.min(member.started, now)
        limit.stepped[field] = member
      end
      member.name, member.alive = name, now < member.claimed + member.lease
      if name == me then
        limit.mine = member
      else
        limit.isSilent = limit.isSilent ~= false and not member.alive -- also those that are forgotten now
        if now >= member.claimed + 2 * member.lease then
          table.insert(limit.forgotten, field)
        else
          table.insert(limit.others, member)
        end
      end
    end
  end
  return limit
end

-- The clock has stepped forward, and leases have ended too early. The answer to the stored claim may have been lost. If another
-- member has claimed lately, its claim would have shown the step: so this one was held up.
local function isAhead(limit, it)
  local mine = limit.mine
  if not mine or it.isOfNewMember or it.isMissed or now - mine.claimed - it.age <= math.floor(mine.lease / 2) then
    return false
  end
  for _, other in ipairs(limit.others) do
    if now - other.claimed <= math.floor(other.lease / 2) then
      return false
    end
  end
  return true
end

-- Others may hold what these data do not show: they tell it while the lease lasts, or lose it then.
local function noteLoss(limit, it)
  limit.lostAt = math.min(limit.lostAt, now)
  if limit.heldUpAt > now then -- the clock has stepped back
    limit.noGrowthUntil = limit.noGrowthUntil - (limit.heldUpAt - now)
    limit.heldUpAt = now
  end
  if it.lease == 0 then
    return
  end
  local noted = limit.lostAt > now - it.age -- since the member had its last answer
  local isMoved = limit.server ~= '' and limit.server ~= server
  local lost = limit.isNew or isMoved or (it.isMissed and not noted)
  if lost then
    limit.lostAt = now
  end
  -- Nobody is there of the others, who have not left: all have died, or these data are old.
  local doubted = lost or isAhead(limit, it) or (limit.isSilent and it.isOfNewMember)
  if doubted and now + it.lease > limit.noGrowthUntil then
    limit.heldUpAt, limit.noGrowthUntil = now, now + it.lease
  end
  limit.isNew, limit.server = false, server
end

-- A local share for each member that may be alone: for each that is not there, and for each that lives and may not have had an answer
-- for a lease; of the latter less what it holds. One that has not claimed since the youngest began may have died, and be replaced by
-- it: then another one is not there.
local function keep(limit, it, permits, living)
  local localShare = it.replicas > 0 and math.floor(permits / it.replicas) or 0
  local missing = localShare > 0 and math.max(0, it.replicas - 1 - #living) or 0
  local kept, keptFor, youngest = missing * localShare, missing, it.started
  for _, other in ipairs(living) do
    youngest = math.max(youngest, other.started)
  end
  for _, other in ipairs(living) do
    if (now >= other.confirmed + other.lease or other.claimed <= youngest) and localShare > other.holds then
      kept, keptFor = kept + localShare - other.holds, keptFor + 1
    end
  end
  return kept, keptFor
end

local function lend(key, it)
  local stored = redis.pcall('HGETALL', key)
  if stored.err then
    if string.find(stored.err, 'WRONGTYPE', 1, true) then
      return { 'error', stored.err }
    end
    redis.call('HGETALL', key) -- fails for all claims
  end
  local limit, strange = read(stored)
  if not limit then
    return { 'error', 'its field ' .. strange .. ' was not written by this version of the starter' }
  end
  local mine = limit.mine
  if mine and it.number <= mine.number then
    return { 'late', mine.number }
  end
  for _, field in ipairs(limit.forgotten) do
    redis.call('HDEL', key, field)
  end
  for field, member in pairs(limit.stepped) do
    redis.call('HSET', key, field, line(member))
  end
  it.isOfNewMember = it.last == NEVER or not mine
  it.isMissed = it.last ~= NEVER and it.age < it.lease and not (mine and mine.number >= it.last)
  noteLoss(limit, it)

  -- The smallest number that a living member says counts, less what the others hold.
  local permits, held, latest, living = it.permits, 0, now + it.lease, {}
  for _, other in ipairs(limit.others) do
    latest = math.max(latest, other.claimed + other.lease)
    if other.alive then
      permits, held = math.min(permits, other.permits), held + other.holds
      table.insert(living, other)
    end
  end
  local kept, keptFor = keep(limit, it, permits, living)

  -- What it holds is never taken from it.
  local share = it.holds
  if now >= limit.noGrowthUntil then
    share = math.max(share, math.min(it.asks, permits - held - kept))
  end
  if not limit.isNew then
    redis.call('HSET', key, 'limit', table.concat({ text(limit.lostAt), text(limit.heldUpAt), text(limit.noGrowthUntil),
      limit.server }, ' '))
    if it.lease > 0 then
      -- The answer to the claim that is stored, if the member is known to have it; otherwise the one before.
      local confirmed = not mine and now - it.lease or mine.number == it.last and mine.claimed or mine.confirmed
      redis.call('HSET', key, 'member:' .. me, line({ number = it.number, holds = share, wants = it.wants, permits = it.permits,
        since = now - it.turn, claimed = now, lease = it.lease, confirmed = confirmed, started = it.started }))
    else
      redis.call('HDEL', key, 'member:' .. me)
    end
    redis.call('PEXPIRE', key, text(math.max(MONTH, latest - now))) -- forgotten a month after its last claim
  end

  local answer = { 'ok', share, permits, math.min(permits, kept), keptFor, math.max(0, limit.noGrowthUntil - now), now }
  for _, other in ipairs(living) do
    for _, value in ipairs({ other.name, other.holds, other.wants, other.permits, other.since, other.claimed }) do
      table.insert(answer, value)
    end
  end
  return answer
end

local answers = {}
for i, key in ipairs(KEYS) do
  answers[i] = lend(key, claim(i))
end
return answers
