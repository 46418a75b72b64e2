"""What happens to a run in the shared server, each change in one piece: Lua that Redis and Valkey run by themselves.

Every script takes the same keys, then its own arguments:

    1 run       job, lane, client, state (queued, running, done), attempt, tries, count, worker,
                beat, submitted, stopping, lasting
    2 log       the stream that followers read
    3 watchers  servers that follow, with the time until which they are believed
    4 live  5 batch    runs that wait, in the order in which they are to begin
    6 of        with a lane's and a client's name behind it: those of its runs that wait, by when they came
    7 messages  with a lane's name behind it: the list of messages that no worker has taken
    8 started   how many runs have begun
    9 turns     live and batch: the round that is being served; arrivals: how many runs came

A client's second waiting run comes a round after its first, so everybody's first begins before anybody's second; in a
round it is first come, first served. A message is a ticket: it says that one more run waits, not which one is next.

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
local ROUND = 2 ^ 22
local function of_client(lane_name, client) return KEYS[6] .. lane_name .. ':' .. client end
local function ours() return of_client(get('lane') or '', get('client') or '') end
local function lane() return get('lane') == 'live' and live or batch end
local function leave_queue()
    for _, waiting in ipairs({live, batch, ours()}) do redis.call('ZREM', waiting, run) end
end
local function wait()
    local ours = ours()
    local turn = get('turn')
    if not turn then
        local served = tonumber(redis.call('HGET', KEYS[9], get('lane')) or '0')
        local arrival = redis.call('HINCRBY', KEYS[9], 'arrivals', 1) % ROUND
        turn = number((served + redis.call('ZCARD', ours)) * ROUND + arrival)
        set('turn', turn)
    end
    redis.call('ZADD', lane(), turn, run)
    redis.call('ZADD', ours, number(now), run)
    for _, waiting in ipairs({lane(), ours}) do redis.call('PEXPIRE', waiting, 3600000) end
end
local function forget_the_lost(waiting)
    for _, one in ipairs(redis.call('ZRANGE', waiting, 0, -1)) do
        if redis.call('EXISTS', one) == 0 then redis.call('ZREM', waiting, one) end
    end
end
local function is_watched() return redis.call('ZCOUNT', watchers, now, '+inf') > 0 end
local function conclude(outcome, lasting, retain)
    leave_queue()
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
    local function is_full(one, other, most)
        if redis.call('ZCARD', one) + redis.call('ZCARD', other) < most then return false end
        forget_the_lost(one)
        forget_the_lost(other)
        return redis.call('ZCARD', one) + redis.call('ZCARD', other) >= most
    end
    if is_full(live, batch, waiting_max) then return 'full' end
    if is_full(of_client('live', client), of_client('batch', client), client_max) then return 'client full' end
    local attempt = get('attempt') or '0'
    redis.call('DEL', run, log, watchers)
    set('job', job, 'lane', lane_name, 'client', client, 'attempt', attempt)
    set('state', 'queued', 'count', '0', 'tries', '0', 'submitted', number(now))
    wait()
end
redis.call('ZADD', watchers, number(now + until_ms), me)
if get('state') ~= 'done' then expire(lifetime) end
return is_shared and 'shared' or 'new'
"""
)

BEGIN: Final = (
    _BEGINNING
    + """
local beat_ms, lifetime, worker, lane_name, run_id = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
-- Its worker is dead and nobody follows it: only its message has come again.
if get('state') == 'running' and tonumber(get('beat')) < now then
    set('state', 'queued')
    wait()
end
local waiting = lane_name == 'live' and live or batch
local prefix = string.sub(run, 1, #run - #run_id)
repeat
    local first = redis.call('ZRANGE', waiting, 0, 0)[1]
    if not first then return false end
    redis.call('ZREM', waiting, first)
    run, run_id = first, string.sub(first, #prefix + 1)
    log = string.sub(KEYS[2], 1, #KEYS[2] - #ARGV[5]) .. run_id
    watchers = string.sub(KEYS[3], 1, #KEYS[3] - #ARGV[5]) .. run_id
until get('state') == 'queued'
leave_queue()
local served = tonumber(redis.call('HGET', KEYS[9], lane_name) or '0')
redis.call('HSET', KEYS[9], lane_name, number(math.max(served, math.floor(get('turn') / ROUND))))
redis.call('XADD', log, '*', 'state', 'running')
set('state', 'running', 'worker', worker, 'beat', number(now + beat_ms), 'attempt', number(get('attempt') + 1))
redis.call('HINCRBY', run, 'tries', 1)
expire(lifetime)
redis.call('INCR', KEYS[8])
return {run_id, get('attempt'), get('job'), get('count'), get('tries')}
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
wait()
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
