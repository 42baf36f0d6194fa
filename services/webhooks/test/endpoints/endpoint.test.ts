import { createHmac } from 'node:crypto'
import { dayMs } from '@backoffice/process'
import fc from 'fast-check'
import Stripe from 'stripe'
import t from 'tap'
import {
  afterAttemptAt,
  afterFailure,
  afterPause,
  afterSuccess,
  type Breaker,
  closedBreaker,
  disabledEndpoint,
  type Endpoint,
  expiryAfterRotation,
  failuresToOpen,
  isAtRest,
  mustBeDisabled,
  type SigningSecret,
  signatureHeaders,
  withUrl,
} from '../../src/endpoints/endpoint.ts'

const settings = { concurrencyMax: 10, backoffBaseMs: 60_000 }
const now = new Date('2026-03-02T12:00:00.000Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const fail = (breaker: Breaker, at = now) => afterFailure(breaker, settings, { now: at, random: 0.5 })
const failing = (times: number) =>
  Array.from({ length: times }).reduce<Breaker>((b) => fail(b), closedBreaker(settings))

t.test('a failing receiver gets fewer slots, and at the fifth failure in a row none', async (t) => {
  t.same(
    [1, 2, 3, 4].map((n) => failing(n).concurrency),
    [5, 2, 1, 1],
  )
  t.equal(failing(failuresToOpen - 1).state, 'closed')
  t.match(failing(failuresToOpen), { state: 'open', openUntil: later(30_000), failingSince: now })
})

t.test('one success forgets all failures of a closed breaker', async (t) => {
  t.same(afterSuccess(failing(3), settings), closedBreaker(settings))
})

t.test('after the pause one probe leaves; its failure opens again for twice as long, up to five bases', async (t) => {
  let breaker = failing(failuresToOpen)
  t.equal(afterPause(breaker, later(29_999)), breaker)
  const pauses: number[] = []
  let at = now
  for (let n = 0; n < 6; n++) {
    at = breaker.openUntil ?? at
    const probing = afterPause(breaker, at)
    t.match(probing, { state: 'recovering', concurrency: 1, openUntil: null })
    breaker = fail(probing, at)
    pauses.push((breaker.openUntil?.getTime() ?? 0) - at.getTime())
  }
  t.same(pauses, [60_000, 120_000, 240_000, 300_000, 300_000, 300_000])
})

t.test('recovery doubles what may be under way with every success, up to the full', async (t) => {
  let breaker = afterPause(failing(failuresToOpen), later(60_000))
  const steps: [string, number][] = []
  for (let n = 0; n < 4; n++) {
    breaker = afterSuccess(breaker, settings)
    steps.push([breaker.state, breaker.concurrency])
  }
  t.same(steps, [
    ['recovering', 2],
    ['recovering', 4],
    ['recovering', 8],
    ['closed', 10],
  ])
  t.ok(isAtRest(breaker))
})

t.test('a late success while open begins the recovery; a late failure changes nothing but the count', async (t) => {
  const open = failing(failuresToOpen)
  t.match(afterSuccess(open, settings), { state: 'recovering', concurrency: 1, openUntil: null, failingSince: null })
  t.same(fail(open), { ...open, consecutiveFailures: failuresToOpen + 1 })
})

t.test('an endpoint is disabled after days without one success, and only after a number of failures', async (t) => {
  const rule = { failingDays: 5, failuresMin: 20 }
  const sick = { ...failing(failuresToOpen), consecutiveFailures: 20 }
  t.notOk(mustBeDisabled(sick, rule, later(5 * dayMs - 1)))
  t.ok(mustBeDisabled(sick, rule, later(5 * dayMs)))
  t.notOk(mustBeDisabled({ ...sick, consecutiveFailures: 19 }, rule, later(9 * dayMs)))
  t.notOk(mustBeDisabled(closedBreaker(settings), rule, later(9 * dayMs)))
})

t.test(
  'whatever happens: slots stay between 1 and the maximum, only open has an end, and a success ends the failing',
  async () => {
    const step = fc.constantFrom('success', 'failure', 'pause' as const)
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat(400_000))), (steps) => {
        let at = now
        let breaker = closedBreaker(settings)
        for (const [kind, ms] of steps) {
          at = new Date(at.getTime() + ms)
          if (kind === 'success') breaker = afterSuccess(breaker, settings)
          else if (kind === 'failure') breaker = fail(breaker, at)
          else breaker = afterPause(breaker, at)
          if (breaker.concurrency < 1 || breaker.concurrency > settings.concurrencyMax) return false
          if ((breaker.state === 'open') !== (breaker.openUntil !== null)) return false
          if (kind === 'success' && breaker.failingSince !== null) return false
        }
        return true
      }),
    )
  },
)
const disabling = { failingDays: 5, failuresMin: 20 }
const fiveDaysOn = later(5 * dayMs)
const url = 'https://hooks.example.com/'
const endpoint: Endpoint = {
  url,
  enabled: true,
  disabledAt: null,
  disabledReason: null,
  breaker: closedBreaker(settings),
  lastFault: null,
  updatedAt: now,
}
const refused = { responseStatus: 502, error: 'It answered 502.' }
const acknowledged = { responseStatus: 204, error: null }
const learn = (before: Endpoint, failed: boolean, at = fiveDaysOn, sentTo = url) =>
  afterAttemptAt(
    before,
    { url: sentTo, ...(failed ? refused : acknowledged) },
    { settings, disabling, now: at, random: 0.5 },
  )
const failingEndpoint = (times: number) =>
  Array.from({ length: times }).reduce<Endpoint>((e) => learn(e, true, now), endpoint)

t.test('a failure of the former URL says nothing about the present one; a success is one all the same', async (t) => {
  const former = 'https://former.example.com/'
  t.equal(learn(endpoint, true, fiveDaysOn, former), endpoint)
  t.match(learn(failingEndpoint(3), false, fiveDaysOn, former).breaker, { consecutiveFailures: 0 })
})

t.test('an endpoint that has failed for days and often enough is disabled, once', async (t) => {
  t.match(learn(failingEndpoint(18), true), { enabled: true, updatedAt: now }, 'too few failures')
  const last = learn(failingEndpoint(19), true)
  const disabledReason = 'It failed for 5 days without one success (20 attempts).'
  t.match(last, {
    enabled: false,
    disabledAt: fiveDaysOn,
    disabledReason,
    updatedAt: fiveDaysOn,
    breaker: { consecutiveFailures: 20 },
  })
  t.match(learn(last, true, later(6 * dayMs)), {
    disabledAt: fiveDaysOn,
    disabledReason,
    breaker: { consecutiveFailures: 21 },
  })
})

t.test('setting a URL enables an endpoint and forgets its failures', async (t) => {
  const off = disabledEndpoint(failingEndpoint(7), { reason: 'asked by the operator', now })
  t.match(off, { url, enabled: false, disabledAt: now, disabledReason: 'asked by the operator' })
  t.same(withUrl(off, 'https://new.example.com/', { settings, now: fiveDaysOn }), {
    ...endpoint,
    url: 'https://new.example.com/',
    updatedAt: fiveDaysOn,
  })
})

const sentAt = new Date('2026-03-02T12:00:00.900Z')
const at = (hours: number) => new Date(sentAt.getTime() + hours * 3_600_000)
const body = Buffer.from('{"id":"evt_1","object":"event","type":"deposit.confirmed"}')
const current: SigningSecret = { secret: 'whsec_new', createdAt: at(-1), expiresAt: null }
const former: SigningSecret = { secret: 'whsec_old', createdAt: at(-90), expiresAt: at(23) }
const hmac = (secret: string) => createHmac('sha256', secret).update(`1772452800.${body}`).digest('hex')

t.test('the signature is the HMAC over timestamp, dot and body, in lowercase hex', async (t) => {
  const headers = signatureHeaders({ eventId: 'evt_1', body, secrets: [current], now: sentAt })
  t.match(headers, {
    'X-Webhook-Id': 'evt_1',
    'X-Webhook-Timestamp': '1772452800',
    'X-Webhook-Signature': hmac('whsec_new'),
  })
})

t.test('a second rotation within the overlap prolongs nothing', async (t) => {
  const overlapMs = 24 * 3_600_000
  t.same(expiryAfterRotation(null, { now: sentAt, overlapMs }), at(24))
  t.same(expiryAfterRotation(at(3), { now: sentAt, overlapMs }), at(3))
  t.same(expiryAfterRotation(at(3), { now: sentAt, overlapMs: 0 }), sentAt)
})

t.test("the stripe package's constructEvent accepts our deliveries, with either secret of a rotation", async (t) => {
  const signedNow = signatureHeaders({
    eventId: 'evt_1',
    body,
    secrets: [current, { ...former, expiresAt: new Date(8.64e15) }],
    now: new Date(),
  })
  const { webhooks } = new Stripe('sk_test_unused')
  const built = `t=${signedNow['X-Webhook-Timestamp']},v1=${signedNow['X-Webhook-Signature']}`
  t.equal(webhooks.constructEvent(body, built, 'whsec_old').id, 'evt_1')
  const extra = signedNow['X-Webhook-Signatures'] ?? ''
  t.equal(webhooks.constructEvent(body, extra, 'whsec_old').id, 'evt_1')
  t.equal(webhooks.constructEvent(body, extra, 'whsec_new').id, 'evt_1')
  t.throws(() => webhooks.constructEvent(body, extra, 'whsec_other'))
  t.throws(() => webhooks.constructEvent(`${body} `, extra, 'whsec_new'))
})
