import { purge } from '@backoffice/service-runtime/testing'
import t from 'tap'
import { judgeUsedKey, type MyClaim, type UsedKey } from '../../src/claims/claim.ts'
import { forgetClaim, releaseClaims, storeResponses } from '../../src/claims/records.ts'
import { gateway } from '../../src/service.ts'
import { batchTests } from './claim-batches.ts'
import { claimBed, newKey, response } from './claim-bed.ts'
import { signatureTests } from './claim-signatures.ts'

const claims = await claimBed(t)
const { bed, admin, db, claim, store, expire, endLease } = claims

t.test('of thirty parallel claims of one key exactly one is ours, the rest see it running', async (t) => {
  const key = newKey()
  const outcomes = await Promise.all(Array.from({ length: 30 }, () => claim(key).outcome))
  t.strictSame(outcomes.map((claimed) => claimed?.state).sort(), [
    'mine',
    ...Array.from({ length: 29 }, () => 'running'),
  ])
})

t.test('a reply is replayed whole, to the byte, and the first one stays', async (t) => {
  const body = Buffer.from(JSON.stringify({ id: 'dep_1', status: 'pending', note: 'ü\u2028' }))
  const plain = { status: 201, contentType: 'application/json; charset=utf-8', body }
  const key = newKey()
  const first = claim(key)
  await first.outcome
  const sent = { ...plain, requestId: 'req_second' }
  t.same(await storeResponses(db, [{ ...first, response: sent }]), [sent], 'what is sent')
  const { rows } = await bed.sql('gateway').query('select token from claim where key = $1', [key.key])
  t.same(rows, [{ token: null }], 'no attempt runs any more')
  t.same(await claim(key).outcome, { state: 'replay', response: sent })
  t.same(await storeResponses(db, [{ ...first, response: { ...sent, status: 409 } }]), [sent])
})

t.test('a claim with its reply goes when its key has expired, one without a reply a day later', async (t) => {
  const [known, unknown, old, lasting] = [newKey(), newKey(), newKey(), newKey()]
  const answered = [claim(known), claim(lasting)]
  await Promise.all([...answered, claim(unknown), claim(old)].map(({ outcome }) => outcome))
  for (const one of answered) await store(one, 'a')
  await Promise.all([expire(known), expire(unknown)])
  const dayAgo = "update claim set expires_at = now() - interval '24 hours 1 second' where key = $1"
  await bed.sql('gateway').query(dayAgo, [old.key])
  const lastMinute = "update claim set expires_at = now() + interval '1 minute' where key = $1"
  await bed.sql('gateway').query(lastMinute, [lasting.key])
  const clock = { now: () => new Date() }
  for (const retention of gateway.retentions ?? [])
    if (retention.table === 'claim') await purge({ db, clock }, retention)
  const left = 'select key from claim where key = any($1)'
  t.same((await bed.sql('gateway').query(left, [[known.key, unknown.key, old.key]])).rows, [{ key: unknown.key }])
  t.match(await claim(lasting).outcome, { state: 'replay' }, 'to the last minute of its day nothing is done again')
})

t.test('one key in sandbox and production, and of two operators, is as many keys', async (t) => {
  const key = newKey()
  const keys = [key, { ...key, environment: 'production' as const }, { ...key, operatorId: 'op_2' }]
  for (const [index, own] of keys.entries()) {
    const first = claim(own, { fingerprint: `body ${index}` })
    t.match(await first.outcome, { state: 'mine' })
    await store(first, `reply ${index}`)
  }
  for (const [index, own] of keys.entries())
    t.match(await claim(own, { fingerprint: `body ${index}` }).outcome, {
      state: 'replay',
      response: response(`reply ${index}`),
    })
})

t.test(
  'a claim whose lease is over, or which was released, goes on under the first operation id; another body is still a conflict',
  async (t) => {
    const key = newKey()
    const first = claim(key)
    const { operationId, until } = (await first.outcome) as MyClaim
    await endLease(key)
    t.match(await claim(key, { fingerprint: 'other' }).outcome, { state: 'conflict' })
    const second = claim(key)
    t.strictSame(await second.outcome, { state: 'mine', operationId, until }, 'the key is remembered no longer')
    await releaseClaims(db, [first])
    t.match(await claim(key).outcome, { state: 'running' }, 'only its own token releases')
    await releaseClaims(db, [second])
    t.match(await claim(key).outcome, { state: 'mine', operationId: first.operationId })
  },
)

t.test(
  'what is stored is what is answered: the first writer wins, and who was taken over waits for the other',
  async (t) => {
    const key = newKey()
    const slow = claim(key)
    await slow.outcome
    await endLease(key)
    const quick = claim(key)
    await quick.outcome
    t.equal(await store(slow, 'slow'), null, 'nothing is stored yet, and not by this one')
    t.match(await store(quick, 'quick'), { requestId: 'req_quick' })
    t.match(await store(slow, 'slow'), { requestId: 'req_quick', body: Buffer.from('quick') })
    t.match(await claim(key).outcome, { state: 'replay', response: response('quick') })
  },
)

t.test('a key is remembered from its first use on: no retry makes that longer', async (t) => {
  const key = newKey()
  const first = claim(key)
  await first.outcome
  await releaseClaims(db, [first])
  await admin.query(`update gateway.claim set expires_at = now() + interval '1 minute' where key = $1`, [key.key])
  t.match(await claim(key).outcome, { state: 'mine', operationId: first.operationId })
  const { rows } = await admin.query(
    `select expires_at < now() + interval '2 minutes' as kept from gateway.claim where key = $1`,
    [key.key],
  )
  t.same(rows, [{ kept: true }])
})

t.test('a key is remembered for 24 hours to the second: a replay before, and a new use after', async (t) => {
  const key = newKey()
  const first = claim(key)
  await first.outcome
  await store(first, 'a')
  const pass = (time: string) =>
    admin.query(`update gateway.claim set expires_at = expires_at - $2::interval where key = $1`, [key.key, time])
  await pass('23:59:50')
  t.match(await claim(key).outcome, { state: 'replay' })
  await pass('00:00:11')
  const next = claim(key, { fingerprint: 'other' })
  t.match(await next.outcome, { state: 'mine', operationId: next.operationId }, 'at 24:00:01, and another body')
})

t.test('of parallel claims of an expired key one is ours, and none needs resolving', async (t) => {
  const key = newKey()
  const first = claim(key)
  await first.outcome
  await store(first, 'a')
  await expire(key)
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => claim(key).outcome))
  t.strictSame(outcomes.map((claimed) => claimed?.state).sort(), [
    'mine',
    ...Array.from({ length: 19 }, () => 'running'),
  ])
})

t.test('past its memory a key of unknown outcome must be resolved before it names another effect', async (t) => {
  const key = newKey()
  const first = claim(key)
  await first.outcome
  await expire(key)
  t.match(await claim(key).outcome, { state: 'running' }, 'its attempt may still be at work')
  await endLease(key)
  t.match(await claim(key).outcome, { state: 'unresolved', operationId: first.operationId, operation: 'createDeposit' })
  await forgetClaim(db, key, 'opn_of_another')
  t.match(await claim(key).outcome, { state: 'unresolved' }, 'only the resolved one is forgotten')
  await forgetClaim(db, key, first.operationId)
  const next = claim(key)
  t.match(await next.outcome, { state: 'mine', operationId: next.operationId })
})

t.test('a late attempt never gets the reply that its key has found since for another operation', async (t) => {
  const key = newKey()
  const late = claim(key)
  await late.outcome
  await endLease(key)
  await expire(key)
  await forgetClaim(db, key, late.operationId)
  const next = claim(key, { fingerprint: 'other' })
  t.match(await next.outcome, { state: 'mine', operationId: next.operationId })
  t.match(await store(next, 'next'), { requestId: 'req_next' })
  t.equal(await store(late, 'late'), null)
  t.match(await claim(key, { fingerprint: 'other' }).outcome, { state: 'replay', response: response('next') })
})

t.test('a lease that ends later than it can, as after a clock was set back, is over', async (t) => {
  const key = newKey()
  const first = claim(key)
  await first.outcome
  await admin.query(`update gateway.claim set leased_until = leased_until + interval '1 hour' where key = $1`, [
    key.key,
  ])
  t.match(await claim(key, { fingerprint: 'other' }).outcome, { state: 'conflict' })
  t.match(await claim(key).outcome, { state: 'mine', operationId: first.operationId })
})

batchTests(t, claims)
signatureTests(t, claims)

const [same, other] = [Buffer.from('same'), Buffer.from('other')]
const base: UsedKey = {
  fingerprint: same,
  expired: false,
  operation: 'createDeposit',
  operationId: 'opn_1',
  remainingMs: 0,
  response: null,
}

/** Every state of a used key, and what it means for the same request and for another one. `free`: it may be had. */
const table: readonly [string, Partial<UsedKey>, string, string][] = [
  ['running, to the last millisecond', { remainingMs: 1 }, 'running', 'conflict'],
  ['released, or its lease over', {}, 'free', 'conflict'],
  ['answered', { response: response('a') }, 'replay', 'conflict'],
  ['running, past its memory', { expired: true, remainingMs: 5 }, 'running', 'running'],
  ['of unknown outcome, past its memory', { expired: true }, 'unresolved', 'unresolved'],
  ['answered, past its memory', { expired: true, response: response('a') }, 'free', 'free'],
]
for (const [name, state, forSame, forOther] of table) {
  t.test(`a key that is ${name}: ${forSame} for the same request, ${forOther} for another`, async (t) => {
    const used = { ...base, ...state }
    t.equal(judgeUsedKey(used, Buffer.from(same))?.state ?? 'free', forSame)
    t.equal(judgeUsedKey(used, other)?.state ?? 'free', forOther)
  })
}
