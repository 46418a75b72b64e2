"""What has to happen to a shared room in one go, as scripts that the shared server runs."""

from typing import Final

# KEYS: room, answers. ARGV: shown, question, trace, revealed, milliseconds to live.
PRESENT: Final = """
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
local before = redis.call('HMGET', KEYS[1], 'question', 'trace')
if before[1] ~= ARGV[2] or before[2] ~= ARGV[3] then redis.call('DEL', KEYS[2]) end
redis.call('HSET', KEYS[1], 'shown', ARGV[1], 'question', ARGV[2], 'trace', ARGV[3], 'revealed', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return redis.call('HINCRBY', KEYS[1], 'revision', 1)
"""

# KEYS: room, answers, seats. ARGV: question, participant, answer, places. Gives 0, or what stands against it.
ANSWER: Final = """
local room = redis.call('HMGET', KEYS[1], 'question', 'revealed')
if not room[1] then return -1 end
if room[1] == '' or room[1] ~= ARGV[1] then return -2 end
if room[2] == '1' then return -3 end
if not redis.call('ZSCORE', KEYS[3], ARGV[2]) then return -5 end
local known = redis.call('HEXISTS', KEYS[2], ARGV[2])
if known == 0 and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[4]) then return -4 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
return 0
"""

# KEYS: room, seats. ARGV: participant, now, until when the seat is kept, places. Seats are kept in milliseconds.
ENTER: Final = """
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[2])
local known = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not known and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then return -4 end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
return 0
"""
