-- What the members of a cluster claim, and what they are lent: the rules of ClusterEngine, for all claims of one member at once.
-- LimitLedger has the same rules, in Java. RedisClusterEngine says what goes in and out, and what is stored.

-- Local shares that were lost with data: not known until a member comes that these data should know; or, if another server has the
-- data, until a member comes that has local shares at all.
local ARGUMENTS, HOUR, NEVER, NOT_KNOWN, OF_OLD_DATA = 11, 60 * 60 * 1000, string.rep('0', 19), -1, -2
local MONTH = 30 * 24 * HOUR
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
    number = ARGV[at], last = ARGV[at + 1], age = number(2), permits = number(3), holds = number(4), wants = number(5),
    asks = number(6), localShare = number(7), asksLocal = number(8), turn = number(9), lease = number(10),
  }
end

-- Nil if the value is none of a member.
local function row(value)
  local number, holds, wants, permits, localShare, since, claimed, lease, carefulUntil =
    string.match(value, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  return number and {
    number = number, holds = tonumber(holds), wants = tonumber(wants), permits = tonumber(permits),
    localShare = tonumber(localShare), since = tonumber(since), claimed = tonumber(claimed), lease = tonumber(lease),
    carefulUntil = tonumber(carefulUntil),
  }
end

local function line(member)
  return table.concat({ member.number, text(member.holds), text(member.wants), text(member.permits), text(member.localShare),
    text(member.since), text(member.claimed), text(member.lease), text(member.carefulUntil) }, ' ')
end

-- Returns nil and a field, if that was written by something else.
local function read(stored)
  local limit = { lostAt = 0, heldUpAt = 0, noGrowthUntil = 0, unseen = NOT_KNOWN, server = '', isNew = true, others = {} }
  limit.stepped, limit.forgotten = {}, {}
  for i = 1, #stored, 2 do
    local field, value = stored[i], stored[i + 1]
    if field == 'limit' then
      local lostAt, heldUpAt, noGrowthUntil, unseen, of = string.match(value, '^(%d+) (%d+) (%d+) (%-?%d+) (%w*)$')
      if not lostAt then
        return nil, field
      end
      limit.isNew, limit.lostAt, limit.heldUpAt, limit.noGrowthUntil =
        false, tonumber(lostAt), tonumber(heldUpAt), tonumber(noGrowthUntil)
      limit.unseen, limit.server = tonumber(unseen), of
    else
      local name, member = string.match(field, '^member:(.*)$'), row(value)
      if not name or not member then
        return nil, field
      end
      if member.claimed > now then -- the clock has stepped back: a lease ends as if it began now
        member.since, member.claimed = math.min(member.since, now), now
        member.carefulUntil = math.min(member.carefulUntil, now + member.lease)
        limit.stepped[field] = member
      end
      member.name, member.alive = name, now < member.claimed + member.lease
      local isForgotten = now >= member.claimed + member.lease + HOUR
      if isForgotten then
        table.insert(limit.forgotten, field) -- it has been away for an hour: nothing is kept for it
      end
      if name ~= me then
        limit.isSilent = limit.isSilent ~= false and not member.alive -- also those that are forgotten now
      end
      if name == me and not isForgotten then
        limit.mine = member
      elseif not isForgotten then
        table.insert(limit.others, member)
      end
    end
  end
  return limit
end

local function localShares(limit, alsoOfTheLiving)
  local all = 0
  for _, other in ipairs(limit.others) do
    if alsoOfTheLiving or not other.alive then
      all = all + other.localShare
    end
  end
  return all
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
    limit.lostAt, limit.unseen = now, isMoved and OF_OLD_DATA or NOT_KNOWN
  end
  -- Nobody is there of the others, who have not left: all have died, or these data are old.
  local doubted = lost or isAhead(limit, it) or (limit.isSilent and it.isOfNewMember)
  if doubted and now + it.lease > limit.noGrowthUntil then
    limit.heldUpAt, limit.noGrowthUntil = now, now + it.lease
  end
  limit.isNew, limit.server = false, server
end

-- Local shares that are not known are lent to nobody, until those that have them could be forgotten.
local function noteUnseen(limit, it)
  local more = it.localShare - (limit.mine and limit.mine.localShare or 0)
  if now >= limit.lostAt + HOUR then
    limit.unseen = 0
  elseif (limit.unseen == OF_OLD_DATA or (limit.unseen == NOT_KNOWN and it.isMissed)) and it.localShare + it.asksLocal > 0 then
    limit.unseen = math.max(0, it.permits - it.localShare - localShares(limit, true))
  elseif more > 0 and limit.unseen > 0 then
    limit.unseen = math.max(0, limit.unseen - more)
  end
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
  it.isOfNewMember = it.last == NEVER or it.age >= HOUR -- after an hour it may have been forgotten
  it.isMissed = not it.isOfNewMember and not (mine and mine.number >= it.last)
  noteLoss(limit, it)
  noteUnseen(limit, it)
  local carefulUntil = mine and mine.carefulUntil or 0
  if it.isOfNewMember or it.age >= math.floor(it.lease / 2) then
    carefulUntil = now + it.lease -- it was away, so others may be alone
  end

  -- The smallest number that a living member says counts, less what the others hold.
  local permits, held, latest = it.permits, 0, now + it.lease
  for _, other in ipairs(limit.others) do
    latest = math.max(latest, other.claimed + other.lease)
    if other.alive then
      permits, held = math.min(permits, other.permits), held + other.holds
    end
  end

  -- What it holds is never taken from it.
  local share, localShare = it.holds, it.localShare
  if now >= limit.noGrowthUntil then
    local gone = math.max(0, limit.unseen)
    local free = permits - held - (now < carefulUntil and localShares(limit, false) + gone or 0)
    share = math.max(share, math.min(it.asks, free))
    local freeLocal = permits - localShares(limit, true) - gone
    localShare = math.max(localShare, math.min(it.asksLocal, freeLocal))
  end

  if not limit.isNew then
    redis.call('HSET', key, 'limit', table.concat({ text(limit.lostAt), text(limit.heldUpAt), text(limit.noGrowthUntil),
      text(limit.unseen), limit.server }, ' '))
    if it.lease > 0 then
      redis.call('HSET', key, 'member:' .. me, line({ number = it.number, holds = share, wants = it.wants, permits = it.permits,
        localShare = localShare, since = now - it.turn, claimed = now, lease = it.lease, carefulUntil = carefulUntil }))
    else
      redis.call('HDEL', key, 'member:' .. me)
    end
    redis.call('PEXPIRE', key, text(math.max(MONTH, latest - now))) -- forgotten a month after its last claim
  end

  local answer = { 'ok', share, localShare, permits, math.max(0, limit.noGrowthUntil - now), now }
  for _, other in ipairs(limit.others) do
    for _, value in ipairs({ other.name, other.alive and other.holds or 0, other.alive and other.wants or 0, other.permits,
      other.localShare, other.since, other.claimed, other.alive and 1 or 0 }) do
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
