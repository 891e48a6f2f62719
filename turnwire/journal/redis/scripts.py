"""The Lua that Redis runs for the journal: each script is one atomic step on one session's keys.

A session has a stream of events (`SEQ-0`: t time, s bytes kept, e event) and two hashes. `state` has first, last,
size, micros, writer and deleted. In a fleet it also has owner and fence. While old events are in a file, `archive` names
it, and `archived` has its parts, as `LAST:MICROS:BYTES` of each. `beside` has what was cut. KEYS are always
stream, state, beside; of a claim also the session's entry in the fleet's directory, which says with the log whose it is. What is absent is an empty argument; what is there has a `+` before it.
"""

_RETAIN = """
local stream, state, beside = KEYS[1], KEYS[2], KEYS[3]

-- A number that a log can have and Lua counts to, or nil: others may have been at the keys.
local function counted(value)
    local found = type(value) == 'string' and string.match(value, '^%d+$') and tonumber(value)
    if found and found <= 9007199254740991 then return found end
end

-- Owner and fence; neither where the state is no hash.
local function owned()
    return redis.pcall('HMGET', state, 'owner', 'fence')
end

-- Nothing where the state is none that we have written.
local function extent()
    local held = redis.pcall('HMGET', state, 'first', 'last', 'size')
    if held.err then return end
    local first, last, size = counted(held[1] or '1'), counted(held[2] or '0'), counted(held[3] or '0')
    if first and last and size and first <= last + 1 then return first, last, size end
end

local function unreadable()
    return redis.error_reply('JOURNAL the state of the log cannot be read')
end

local function number(value)
    return string.format('%.0f', value)
end

-- The parts of the file with old events: the newest number, the newest time and the bytes of each.
local function archived()
    local parts = {}
    for last, micros, size in string.gmatch(redis.call('HGET', state, 'archived') or '', '(%d+):(%d+):(%d+)') do
        parts[#parts + 1] = {tonumber(last), tonumber(micros), tonumber(size)}
    end
    return parts
end

local function set_archived(parts, from)
    if from > #parts then return redis.call('HDEL', state, 'archive', 'archived') end
    local held = {}
    for index = from, #parts do
        held[#held + 1] = number(parts[index][1]) .. ':' .. number(parts[index][2]) .. ':' .. number(parts[index][3])
    end
    redis.call('HSET', state, 'archived', table.concat(held, ' '))
end

-- Drops from the front; negative limits are none. The newest event stays unless it is too old. What others took out of the
-- stream is passed over in one step, and an entry that has no time or weight is as old and as light as can be. Of a file whole parts
-- are dropped, and of a part only the count drops some.
local function retain(max_count, max_bytes, oldest)
    local first, last, size = extent()
    local keep, excess, dropped = first, 0, 0
    if max_count >= 0 and last - first >= max_count then
        keep = last + 1 - max_count + math.floor(max_count / 16)
    end
    if max_bytes >= 0 and size > max_bytes then
        excess = size - max_bytes + math.floor(max_bytes / 16)
    end
    -- Mostly nothing is to be dropped, and the oldest event alone tells so.
    local next, going, count = first, keep > first or excess > 0 or oldest > 0, 1
    local parts = going and archived() or {}
    local kept = 1
    for _, part in ipairs(parts) do
        if not (part[1] < keep or (dropped < excess and part[1] < last) or part[2] < oldest) then
            going = false
            break
        end
        next, dropped, kept = part[1] + 1, dropped + part[3], kept + 1
    end
    if kept > 1 then set_archived(parts, kept) end
    while going do
        local entries = redis.call('XRANGE', stream, number(next) .. '-0', number(last), 'COUNT', count)
        for _, entry in ipairs(entries) do
            local seq = tonumber(string.match(entry[1], '^%d+'))
            local micros, weight = counted(entry[2][2]), counted(entry[2][4])
            going = seq < keep or (dropped < excess and seq < last) or (micros or 0) < oldest
            if not going then break end
            dropped = dropped + (weight or 0)
            redis.call('HDEL', beside, number(seq) .. 'w', number(seq) .. 'r')
            next = seq + 1
        end
        going = going and #entries == count
        count = 64
    end
    next = math.max(next, keep)
    if next > first then
        redis.call('XTRIM', stream, 'MINID', number(next) .. '-0')
        redis.call('HSET', state, 'first', number(next), 'size', number(math.max(size - dropped, 0)))
    end
end

local function held()
    local first, last, size = extent()
    return {first, last, size}
end

-- Whose log it is; who is not that owner in this life, or was it before another, is told so and changes nothing.
local function fenced(owner, fence)
    local known = owned()
    if not known[1] or (known[1] == owner and known[2] == fence) then return nil end
    return redis.error_reply('FENCED it is the log of ' .. known[1] .. ' in its life ' .. (known[2] or 'nobody knows'))
end

-- Takes what is left of a log whose state cannot be read; returns where it ended, as far as is known.
local function cleared(last)
    local newest = redis.pcall('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
    redis.call('DEL', state)
    return math.max(last, newest and counted(string.match(newest[1], '^%d+')) or 0)
end
"""

APPEND = (
    _RETAIN
    + """
-- session, writer, first, micros, max_count, max_bytes, oldest, channel, owner, fence, then event, whole, raw of each entry
local refusal = fenced(ARGV[9], ARGV[10])
if refusal then return refusal end
local first, count = tonumber(ARGV[3]), (#ARGV - 10) / 3
local _, last = extent()
if not last then return unreadable() end
if last ~= first - 1 then
    if last >= first + count - 1 and redis.call('HGET', state, 'writer') == ARGV[2] then
        return held()  -- the answer to the first attempt was lost on its way
    end
    return redis.error_reply('JOURNAL log ends at ' .. number(last) .. ', not at ' .. number(first - 1))
end
local size = 0
for i = 0, count - 1 do
    local event, whole, raw = ARGV[11 + 3 * i], ARGV[12 + 3 * i], ARGV[13 + 3 * i]
    local seq = number(first + i)
    local weight = #event + math.max(#whole - 1, 0) + math.max(#raw - 1, 0)
    redis.call('XADD', stream, seq .. '-0', 't', ARGV[4], 's', number(weight), 'e', event)
    if whole ~= '' then redis.call('HSET', beside, seq .. 'w', whole) end
    if raw ~= '' then redis.call('HSET', beside, seq .. 'r', raw) end
    size = size + weight
end
redis.call('HINCRBY', state, 'size', number(size))
redis.call('HSETNX', state, 'first', '1')
redis.call('HSET', state, 'last', number(first + count - 1), 'writer', ARGV[2], 'micros', ARGV[4], 'deleted', '0')
if ARGV[9] ~= '' then redis.call('HSET', state, 'owner', ARGV[9], 'fence', ARGV[10]) end
retain(tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]))
local now = held()
if ARGV[8] ~= '' then
    redis.call('PUBLISH', ARGV[8], table.concat(
        {ARGV[2], number(now[1]), number(now[2]), number(now[3]), ARGV[4], ARGV[1]}, ' '))
end
return now
"""
)

RETAIN = (
    _RETAIN
    + """
-- max_count, max_bytes, oldest
if not extent() then return unreadable() end
retain(tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
return held()
"""
)

DELETE = (
    _RETAIN
    + """
-- owner, fence, last: where the log ends, as far as the sidecar knows. What others have spoilt can be deleted by whose it is
local known, _, last = owned(), extent()
if last or known[1] and known[1] ~= ARGV[1] then
    local refusal = fenced(ARGV[1], ARGV[2])
    if refusal then return refusal end
else
    last = cleared(tonumber(ARGV[3]))
    redis.call('HSET', state, 'last', number(last))
    if ARGV[1] ~= '' then redis.call('HSET', state, 'owner', ARGV[1], 'fence', ARGV[2]) end
end
redis.call('DEL', stream, beside)
redis.call('HDEL', state, 'archive', 'archived')
redis.call('HSET', state, 'first', number(last + 1), 'size', '0', 'deleted', '1')
return held()
"""
)

DELETE_FROM = (
    _RETAIN
    + """
-- owner, fence: who had it, and is gone. From then on it is the log of nobody, the empty name, who takes nothing more. Returns {fence}
local known, _, last = owned(), extent()
if known[2] and not counted(known[2]) then return unreadable() end
if known[1] == '' and known[2] then return {tonumber(known[2])} end
if known[1] and not (known[1] == ARGV[1] and known[2] == ARGV[2]) then return {0} end
local fence = number(tonumber(ARGV[2]) + 1)
last = last or cleared(0)
redis.call('DEL', stream, beside)
redis.call('HDEL', state, 'archive', 'archived')
redis.call('HSET', state, 'first', number(last + 1), 'last', number(last), 'size', '0', 'deleted', '1', 'owner', '', 'fence', fence)
return {tonumber(fence), last + 1, last, 0}
"""
)

ADOPT = (
    _RETAIN
    + """
-- session, last: what the sidecar knows to have been the end of a log that the server lost events of; owner, fence
if fenced(ARGV[3], ARGV[4]) then return 0 end
local wanted, found = tonumber(ARGV[2]), counted(redis.call('HGET', state, 'last')) or 0
local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
local last = math.max(found, newest and tonumber(string.match(newest[1], '^%d+')) or 0)
if last > wanted then return 0 end
if found == wanted and extent() then return 2 end
local first, size, next = wanted + 1, 0, '-'
for index, part in ipairs(archived()) do
    if index == 1 then first = counted(redis.call('HGET', state, 'first')) or first end
    size = size + part[3]
end
while newest do
    local entries = redis.call('XRANGE', stream, next, '+', 'COUNT', 256)
    for _, entry in ipairs(entries) do
        first = math.min(first, tonumber(string.match(entry[1], '^%d+')))
        size = size + (counted(entry[2][4]) or 0)
    end
    if #entries < 256 then break end
    next = '(' .. entries[#entries][1]
end
redis.call('HSET', state, 'first', number(first), 'last', ARGV[2], 'size', number(size), 'deleted', '0')
return 1
"""
)

CLAIM = (
    _RETAIN
    + """
-- session, owner, and from whom it may be taken: their name and fence, both empty where nobody else may have it
local known = owned()
if known[1] and known[1] ~= ARGV[2] and not (known[1] == ARGV[3] and known[2] == ARGV[4]) then return {0} end
local first, last, size = extent()
if not first then return unreadable() end
local about = redis.call('HMGET', state, 'micros', 'deleted')
local former, micros, deleted = counted(known[2] or '0'), counted(about[1] or '0'), counted(about[2] or '0')
if not (former and micros and deleted) then return unreadable() end
local fence = number(former + 1)
redis.call('HSET', state, 'owner', ARGV[2], 'fence', fence)
if redis.call('HGET', KEYS[4], 'worker') then redis.call('HSET', KEYS[4], 'worker', ARGV[2], 'fence', fence) end
return {tonumber(fence), first, last, size, micros, deleted}
"""
)

ARCHIVE = (
    _RETAIN
    + """
-- owner, fence, last, file, parts, former: the file has all events up to `last`, those of the file `former` too, where there is one.
-- Returns 0 where the log is another by now
local refusal = fenced(ARGV[1], ARGV[2])
if refusal then return refusal end
local first, last = extent()
if not last or first > last or number(last) ~= ARGV[3] or owned()[1] ~= ARGV[1] then return 0 end
-- Else some of what was to be read from the stream may have been in another file by then.
if string.match(redis.call('HGET', state, 'archive') or '', '^[^ ]*') ~= ARGV[6] then return 0 end
redis.call('HSET', state, 'archive', ARGV[4], 'archived', ARGV[5])
-- Retention may have taken some since the file was begun.
local parts, kept = archived(), 1
while parts[kept][1] < first do kept = kept + 1 end
if kept > 1 then set_archived(parts, kept) end
redis.call('DEL', stream, beside)
return 1
"""
)

EPOCH = """
-- KEYS epoch, run; ARGV new epoch, the server's run, whether its restarts lose nothing, an epoch that is over
local epoch = redis.call('GET', KEYS[1])
if not epoch or epoch == ARGV[4] or (redis.call('GET', KEYS[2]) ~= ARGV[2] and ARGV[3] ~= 'yes') then
    epoch = ARGV[1]
    redis.call('SET', KEYS[1], epoch)
end
redis.call('SET', KEYS[2], ARGV[2])
return epoch
"""
