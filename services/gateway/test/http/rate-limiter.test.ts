import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { RateLimiter } from '../../src/http/rate-limiter.ts'

const scope = {} as never

t.test('a share is spent within its own window, however late it comes', async (t) => {
  const shares = [
    { granted: 5, remainingMs: 30 },
    { granted: 0, remainingMs: 60_000 },
  ]
  // The window was measured when the first share left, and is over when it arrives.
  const slow = async () => {
    await wait(50)
    return [shares.shift()]
  }
  const limiter = new RateLimiter(slow as never)
  t.ok(((await limiter.admit(scope, 10)) ?? 0) > 0)
  t.same(shares, [])
})
