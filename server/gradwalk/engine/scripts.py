"""What happens to a run in the shared server, each change in one piece: Lua that Redis and Valkey run by themselves.

Every script takes the same keys, then its own arguments:

    1 run       job, lane, client, state (queued, running, done), attempt, tries, count, worker,
                beat, submitted, stopping, lasting
    2 log       the stream that followers read
    3 watchers  servers that follow, with the time until which they are believed
    4 live  5 batch    runs that wait, in the order in which they came
    6 of        with a client's name behind it: those of its runs that wait
    7 messages  with a lane's name behind it: the list of messages that no worker has taken
    8 started   how many runs have begun

Times are the shared server's own, in milliseconds, so that the clocks of the machines need not agree. An attempt is a
number that grows; only the newest may write (a fence: who was given up for dead and lives on is refused).
"""

from typing import Final

_BEGINNING = """
local run, log, watchers, live, batch = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function get(field) return redis.call('HGET', run, field) end
local function set(...) redis.call('HSET', run, ...) end
local function number(value) return string.format('%d', value) end
local function expire(milliseconds)
    for _, key in ipairs({run, log, watchers}) do redis.call('PEXPIRE', key, milliseconds) end
end
local function ours() return KEYS[6] .. (get('client') or '') end
local function wait_in(key)
    local ours = ours()
    for _, waiting in ipairs({live, batch, ours}) do redis.call('ZREM', waiting, run) end
    if key then
        for _, waiting in ipairs({key, ours}) do
            redis.call('ZADD', waiting, number(time[1] * 1000000 + time[2]), run)
            redis.call('PEXPIRE', waiting, 3600000)
        end
    end
end
local function lane() return get('lane') == 'live' and live or batch end
local function is_watched() return redis.call('ZCOUNT', watchers, now, '+inf') > 0 end
local function conclude(outcome, lasting, retain)
    wait_in(nil)
    redis.call('XADD', log, '*', 'end', outcome)
    set('state', 'done', 'lasting', lasting)
    expire(retain)
end
"""

OPEN: Final = (
    _BEGINNING
    + """
local me, until_ms, lifetime, job, lane_name, client = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local waiting_max, client_max = tonumber(ARGV[7]), tonumber(ARGV[8])
local state = get('state')
local is_shared = (state == 'queued' or state == 'running') and not get('stopping') or get('lasting') == '1'
if not is_shared then
    local its = KEYS[6] .. client
    for _, waiting in ipairs({live, batch, its}) do
        redis.call('ZREMRANGEBYSCORE', waiting, '-inf', number((time[1] - 3600) * 1000000))
    end
    if redis.call('ZCARD', live) + redis.call('ZCARD', batch) >= waiting_max then return 'full' end
    if redis.call('ZCARD', its) >= client_max then return 'client full' end
    local attempt = get('attempt') or '0'
    redis.call('DEL', run, log, watchers)
    set('job', job, 'lane', lane_name, 'client', client, 'attempt', attempt)
    set('state', 'queued', 'count', '0', 'tries', '0', 'submitted', number(now))
    wait_in(lane())
end
redis.call('ZADD', watchers, number(now + until_ms), me)
if get('state') ~= 'done' then expire(lifetime) end
return is_shared and 'shared' or 'new'
"""
)

BEGIN: Final = (
    _BEGINNING
    + """
local beat_ms, lifetime, worker = ARGV[1], ARGV[2], ARGV[3]
local state = get('state')
if state ~= 'queued' and not (state == 'running' and tonumber(get('beat')) < now) then
    if not state then wait_in(nil) end
    return false
end
wait_in(nil)
if not redis.call('EXISTS', log) or state == 'queued' then redis.call('XADD', log, '*', 'state', 'running') end
set('state', 'running', 'worker', worker, 'beat', number(now + beat_ms), 'attempt', number(get('attempt') + 1))
redis.call('HINCRBY', run, 'tries', 1)
expire(lifetime)
redis.call('INCR', KEYS[8])
return {get('attempt'), get('job'), get('count'), get('tries')}
"""
)

APPEND: Final = (
    _BEGINNING
    + """
local attempt, from, size, payload = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
if get('attempt') ~= attempt or get('state') ~= 'running' then return 0 end
local count = tonumber(get('count'))
if count == from + size then return 1 end
if count ~= from then return 0 end
redis.call('XADD', log, '*', 'from', ARGV[2], 'size', ARGV[3], 'batch', payload)
set('count', number(from + size))
return 1
"""
)

BEAT: Final = (
    _BEGINNING
    + """
local attempt, beat_ms, progress = ARGV[1], ARGV[2], ARGV[3]
if get('attempt') ~= attempt or get('state') ~= 'running' then return 0 end
set('beat', number(now + beat_ms))
if progress ~= '' then redis.call('XADD', log, '*', 'progress', progress) end
if not is_watched() then set('stopping', '1') end
return get('stopping') and 0 or 1
"""
)

FINISH: Final = (
    _BEGINNING
    + """
local attempt, outcome, lasting, retain = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if get('attempt') ~= attempt then return 0 end
if get('state') == 'running' then conclude(outcome, lasting, retain) end
return get('state') == 'done' and 1 or 0
"""
)

TEND: Final = (
    _BEGINNING
    + """
local me, until_ms, lifetime, patience = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local state = get('state')
if not state then return {'gone', 0} end
redis.call('ZADD', watchers, number(now + until_ms), me)
if state == 'done' then return {'done', 0} end
expire(lifetime)
local place = redis.call('ZRANK', lane(), run) or 0
local ahead = place
if lane() == batch then ahead = ahead + redis.call('ZCARD', live) end
local is_lost = state == 'running' and tonumber(get('beat')) < now
if state == 'queued' and place == 0 and get('submitted') + patience < now then
    is_lost = redis.call('LLEN', KEYS[7] .. get('lane')) < math.max(1, redis.call('ZCARD', lane()))
end
if not is_lost then return {state, ahead} end
set('state', 'queued', 'submitted', number(now))
wait_in(lane())
return {'lost', ahead}
"""
)

LEAVE: Final = (
    _BEGINNING
    + """
local me, outcome, retain = ARGV[1], ARGV[2], ARGV[3]
redis.call('ZREM', watchers, me)
if is_watched() then return 0 end
if get('state') == 'queued' then conclude(outcome, '0', retain) end
if get('state') == 'running' then set('stopping', '1') end
return 1
"""
)
