import { setTimeout as wait } from 'node:timers/promises'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { RateLimiter, takeShare } from '../../src/http/authenticate.ts'
import { gateway } from '../../src/service.ts'

const bed = await testBed(t, { gateway })
const { db } = bed.services.gateway
const scope = bed.scope()
const { operatorId, environment } = scope

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

t.test('a window that began in the future, as after a clock was set back, is over', async (t) => {
  const limit = 80
  for (let share = 1; share <= 60; share++) await takeShare(db, { operatorId, environment, limit })
  t.match(await takeShare(db, { operatorId, environment, limit }), { granted: 0 })
  await bed.sql('gateway').query("update rate_window set started_at = now() + interval '1 hour'")
  const { granted, remainingMs } = await takeShare(db, { operatorId, environment, limit })
  t.equal(granted, limit / 8)
  t.ok(remainingMs <= 60_000)
})
