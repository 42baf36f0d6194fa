import t from 'tap'
import {
  afterAttemptAt,
  closedBreaker,
  disabled,
  type Endpoint,
  endpointId,
  withUrl,
} from '../../src/endpoints/endpoint.ts'

const dayMs = 24 * 3_600_000
const settings = { concurrencyMax: 10, backoffBaseMs: 60_000 }
const disabling = { failingDays: 5, failuresMin: 20 }
const created = new Date('2026-03-02T12:00:00.000Z')
const now = new Date(created.getTime() + 5 * dayMs)
const url = 'https://hooks.example.com/'
const endpoint: Endpoint = {
  url,
  enabled: true,
  disabledAt: null,
  disabledReason: null,
  breaker: closedBreaker(settings),
  updatedAt: created,
}
const learn = (before: Endpoint, failed: boolean, at = now, sentTo = url) =>
  afterAttemptAt(before, { url: sentTo, failed }, { settings, disabling, now: at, random: 0.5 })
const failing = (times: number) =>
  Array.from({ length: times }).reduce<Endpoint>((e) => learn(e, true, created), endpoint)

t.test('there is one endpoint per operator and environment', async (t) => {
  t.equal(endpointId({ operatorId: 'op_1', environment: 'sandbox' }), 'op_1/sandbox')
})

t.test('a failure of the former URL says nothing about the present one; a success is one all the same', async (t) => {
  const former = 'https://former.example.com/'
  t.equal(learn(endpoint, true, now, former), endpoint)
  t.match(learn(failing(3), false, now, former).breaker, { consecutiveFailures: 0 })
})

t.test('an endpoint that has failed for days and often enough is disabled, once', async (t) => {
  t.match(learn(failing(18), true), { enabled: true, updatedAt: created }, 'too few failures')
  const last = learn(failing(19), true)
  const disabledReason = 'It failed for 5 days without one success (20 attempts).'
  t.match(last, {
    enabled: false,
    disabledAt: now,
    disabledReason,
    updatedAt: now,
    breaker: { consecutiveFailures: 20 },
  })
  const later = new Date(now.getTime() + dayMs)
  t.match(learn(last, true, later), { disabledAt: now, disabledReason, breaker: { consecutiveFailures: 21 } })
})

t.test('setting a URL enables an endpoint and forgets its failures', async (t) => {
  const off = disabled(failing(7), { reason: 'asked by the operator', now: created })
  t.match(off, { url, enabled: false, disabledAt: created, disabledReason: 'asked by the operator' })
  t.same(withUrl(off, 'https://new.example.com/', { settings, now }), {
    ...endpoint,
    url: 'https://new.example.com/',
    updatedAt: now,
  })
})
