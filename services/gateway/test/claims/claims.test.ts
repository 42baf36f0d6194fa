import { randomUUID } from 'node:crypto'
import { purge } from '@backoffice/service-runtime/testing'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import type { MyClaim, StoredResponse } from '../../src/claims/claim.ts'
import {
  type ClaimKey,
  type ClaimRequest,
  claimKeys,
  forgetClaim,
  releaseClaims,
  storeResponses,
  useSignatures,
} from '../../src/claims/records.ts'
import { gateway } from '../../src/service.ts'

const bed = await testBed(t, { gateway })
const { db } = bed.services.gateway
const admin = bed.sql('admin')

const newKey = (): ClaimKey => ({ operatorId: 'op_1', environment: 'sandbox', key: randomUUID() })
const response = (text: string): StoredResponse => ({
  status: 201,
  contentType: 'application/json',
  body: Buffer.from(text),
  requestId: `req_${text}`,
})

/** A request for a key, with a token and an operation id of its own. */
function requestFor(key: ClaimKey, { fingerprint = 'same', leaseMs = 60_000, signature = '' } = {}): ClaimRequest {
  const token = randomUUID()
  return {
    ...key,
    fingerprint: Buffer.from(fingerprint),
    operation: 'createDeposit',
    operationId: `opn_${token}`,
    token,
    leaseMs,
    signatureDigest: signature === '' ? null : Buffer.from(signature),
  }
}

/** One claim in a batch of its own. */
function claim(key: ClaimKey, options?: Parameters<typeof requestFor>[1]) {
  const request = requestFor(key, options)
  return { ...request, outcome: claimKeys(db, [request]).then(([claimed]) => claimed) }
}
const store = async (attempt: ClaimRequest, text: string) =>
  (await storeResponses(db, [{ ...attempt, response: response(text) }]))[0]
/** What time does to a claim. */
const expire = ({ key }: ClaimKey) =>
  admin.query(`update gateway.claim set expires_at = now() - interval '1 second' where key = $1`, [key])
const endLease = ({ key }: ClaimKey) =>
  admin.query(`update gateway.claim set leased_until = now() - interval '1 second' where key = $1`, [key])

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
    t.match(await claim(key).outcome, { state: 'mine', operationId: first.operationId, until })
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

// Claims, replies and releases of many keys in one statement.

t.test('an attempt whose batch runs again has its key still, and nobody else gets it', async (t) => {
  const key = newKey()
  const request = requestFor(key)
  const [first] = await claimKeys(db, [request])
  t.strictSame(await claimKeys(db, [request, requestFor(key)]), [first, { state: 'running', remainingMs: 60_000 }])
  await store(request, 'a')
  t.match(await claimKeys(db, [request]), [{ state: 'replay' }], 'until it has stored its reply')
})

t.test('twins of one batch: the first has the key, the others wait or conflict by their own fingerprint', async (t) => {
  const key = newKey()
  const requests = ['same', 'same', 'other', 'same'].map((fingerprint) =>
    requestFor(key, { fingerprint, leaseMs: 9_000 }),
  )
  const claims = await claimKeys(db, requests)
  const [mine, ...others] = claims
  t.match(mine, { state: 'mine', operationId: requests[0]?.operationId, until: Date })
  t.strictSame(others, [
    { state: 'running', remainingMs: 9_000 },
    { state: 'conflict' },
    { state: 'running', remainingMs: 9_000 },
  ])
})

t.test('a twin that fits a released key gets it, though one that does not fit asked before', async (t) => {
  const key = newKey()
  const first = requestFor(key)
  await claimKeys(db, [first])
  await releaseClaims(db, [first])
  const claims = await claimKeys(db, [requestFor(key, { fingerprint: 'other' }), requestFor(key), requestFor(key)])
  t.match(claims, [{ state: 'conflict' }, { state: 'mine', operationId: first.operationId }, { state: 'running' }])
})

t.test('a batch of keys in all states gives each request what it would get alone, and each twin too', async (t) => {
  // For the first request, for its twin, and for another request with the key.
  const expected: Readonly<Record<string, readonly string[]>> = {
    new: ['mine', 'running', 'conflict'],
    running: ['running', 'running', 'conflict'],
    released: ['mine', 'running', 'conflict'],
    answered: ['replay', 'replay', 'conflict'],
    forgotten: ['mine', 'running', 'conflict'],
    unresolved: ['unresolved', 'unresolved', 'unresolved'],
    overdue: ['running', 'running', 'running'],
  }
  const earlier = new Map(Object.keys(expected).map((name) => [name, requestFor(newKey())]))
  const of = (...names: string[]) => [...earlier].flatMap(([name, request]) => (names.includes(name) ? [request] : []))
  await claimKeys(db, of('running', 'released', 'answered', 'forgotten', 'unresolved', 'overdue'))
  await releaseClaims(db, of('released', 'unresolved'))
  await storeResponses(
    db,
    of('answered', 'forgotten').map((attempt) => ({ ...attempt, response: response('a') })),
  )
  for (const key of of('forgotten', 'unresolved', 'overdue')) await expire(key)

  const requests = ['same', 'same', 'other'].flatMap((fingerprint) =>
    [...earlier.values()].map((key) => requestFor(key, { fingerprint })),
  )
  const claims = await claimKeys(db, requests)
  const got = [...earlier].map(([name, { key }]) => [
    name,
    claims.filter((_, index) => requests[index]?.key === key).map(({ state }) => state),
  ])
  t.strictSame(Object.fromEntries(got), expected)
  for (const [index, request] of requests.entries()) {
    const [claim, before] = [claims[index], of('released', 'unresolved').find(({ key }) => key === request.key)]
    if (claim?.state === 'mine' || claim?.state === 'unresolved')
      t.equal(claim.operationId, (before ?? request).operationId, 'an unknown outcome keeps its operation id')
    if (claim?.state === 'replay') t.same(claim.response, response('a'))
  }
})

t.test('a batch of replies: each is stored under its own token and comes back byte for byte, in order', async (t) => {
  const attempts = Array.from({ length: 50 }, () => requestFor(newKey()))
  await claimKeys(db, attempts)
  const [late, lost] = attempts as [ClaimRequest, ClaimRequest]
  await store(late, 'first')
  const bytes = Buffer.from([0x00, 0xff, 0x22, 0x5c, 0x7b, 0x2c, 0x7d, 0xc3, 0xa9])
  const completions = attempts.map((attempt, index) => ({
    ...attempt,
    response: { ...response(String(index)), status: 200 + index, body: Buffer.concat([bytes, Buffer.from([index])]) },
  }))
  const replies = await storeResponses(
    db,
    completions.map((completion) =>
      completion.key === lost.key ? { ...completion, token: randomUUID() } : completion,
    ),
  )
  const expected = [response('first'), null, ...completions.slice(2).map(({ response }) => response)]
  t.same(replies, expected)
  const replays = await claimKeys(
    db,
    attempts.map((key) => requestFor(key)),
  )
  t.same(
    replays.map((claim) => (claim.state === 'replay' ? claim.response : null)),
    expected,
  )
})

t.test(
  'two replicas that claim, store and release the same keys in any order give each to one, without a deadlock',
  async (t) => {
    const replica = (await bed.start('gateway')).db
    for (let round = 0; round < 10; round++) {
      const keys = Array.from({ length: 100 }, newKey)
      const claimAll = async (from: typeof db, ordered: readonly ClaimKey[]) => {
        const requests = ordered.map((key) => requestFor(key, { leaseMs: 60_000 }))
        const claims = await claimKeys(from, requests)
        return requests.filter((_, index) => claims[index]?.state === 'mine')
      }
      const won = await Promise.all([claimAll(db, keys), claimAll(replica, keys.toReversed()), claimAll(db, keys)])
      const mine = won.flat()
      t.strictSame(mine.map(({ key }) => key).sort(), keys.map(({ key }) => key).sort())
      const [kept, given] = [mine.slice(0, 50), mine.slice(50)]
      const completions = kept.map((attempt) => ({ ...attempt, response: response('a') }))
      const [stored] = await Promise.all([
        storeResponses(db, completions.toReversed()),
        releaseClaims(replica, given),
        releaseClaims(db, given.toReversed()),
        claimAll(replica, keys),
        claimAll(db, keys.toReversed()),
      ])
      t.notOk(stored.includes(null), 'a key whose outcome is stored is not given away')
    }
  },
)

// Under replay protection a signature is good for one request.

t.test('a signature is accepted under the key of its first request, and under no other', async (t) => {
  const [key, other] = [newKey(), newKey()]
  const signature = randomUUID()
  const first = claim(key, { signature })
  t.match(await first.outcome, { state: 'mine' })
  t.match(await claim(other, { signature }).outcome, { state: 'signature used' })
  await store(first, 'a')
  t.match(await claim(key, { signature }).outcome, { state: 'replay' }, 'a retry within the second')
  t.match(await claim(key, { signature: randomUUID() }).outcome, { state: 'replay' }, 'a retry later on')
  t.match(await claim(other, { signature: randomUUID() }).outcome, { state: 'mine' }, 'the refused key was not used up')
})

t.test('of requests with one signature under many keys exactly one goes on, in one batch or in many', async (t) => {
  const signature = randomUUID()
  const inOneBatch = Array.from({ length: 12 }, () => requestFor(newKey(), { signature }))
  const states = (await claimKeys(db, inOneBatch)).map(({ state }) => state)
  t.strictSame(states, ['mine', ...Array.from({ length: 11 }, () => 'signature used')])
  const another = randomUUID()
  const atOnce = await Promise.all(
    Array.from({ length: 12 }, () => claim(newKey(), { signature: another }).outcome.then((claimed) => claimed?.state)),
  )
  t.strictSame(atOnce.sort(), ['mine', ...Array.from({ length: 11 }, () => 'signature used')])
})

t.test('of requests with one key in one batch each signature is remembered', async (t) => {
  const key = newKey()
  const signatures = [randomUUID(), randomUUID(), randomUUID()]
  const claims = await claimKeys(
    db,
    signatures.map((signature) => requestFor(key, { signature })),
  )
  t.strictSame(
    claims.map(({ state }) => state),
    ['mine', 'running', 'running'],
  )
  for (const signature of signatures) t.match(await claim(newKey(), { signature }).outcome, { state: 'signature used' })
})

t.test('a key whose first request has a used signature is claimed by the next one', async (t) => {
  const key = newKey()
  const used = randomUUID()
  await claim(newKey(), { signature: used }).outcome
  const claims = await claimKeys(db, [
    requestFor(key, { signature: used }),
    requestFor(key, { signature: randomUUID() }),
  ])
  t.strictSame(
    claims.map(({ state }) => state),
    ['signature used', 'mine'],
  )
})

t.test('without a digest a signature is accepted under any key, and nothing is remembered', async (t) => {
  const before = await rememberedSignatures()
  t.match(await claim(newKey()).outcome, { state: 'mine' })
  t.match(await claim(newKey()).outcome, { state: 'mine' })
  t.equal(await rememberedSignatures(), before)
})

t.test(
  'a signature without a key is accepted once, by one batch too, and again by a batch that is repeated',
  async (t) => {
    const scope = { operatorId: 'op_1', environment: 'sandbox' } as const
    const signatureDigest = Buffer.from(randomUUID())
    const use = () => ({ ...scope, signatureDigest, key: `request ${randomUUID()}` })
    const batch = [use(), use(), { ...use(), operatorId: 'op_2' }]
    t.strictSame(await useSignatures(db, batch), [true, false, true])
    t.strictSame(await useSignatures(db, batch), [true, false, true])
    t.strictSame(await useSignatures(db, [use()]), [false])
  },
)

t.test('a signature is forgotten once no clock accepts it any more', async (t) => {
  const signature = randomUUID()
  await claim(newKey(), { signature }).outcome
  const [row] = (
    await admin.query(
      'select extract(epoch from expires_at - now())::float8 as left from gateway.used_signature where signature_digest = $1',
      [Buffer.from(signature)],
    )
  ).rows
  t.ok(row.left > 600, 'longer than twice the tolerance of timestamps')
  await admin.query("update gateway.used_signature set expires_at = now() - interval '1 minute'")
  t.match(await claim(newKey(), { signature }).outcome, { state: 'mine' }, 'by the statement, whenever it is purged')
  await admin.query("update gateway.used_signature set expires_at = now() - interval '1 minute'")
  const retention = gateway.retentions?.find(({ table }) => table === 'used_signature')
  t.ok(retention !== undefined && (await purge(bed.services.gateway, retention)) >= 1)
  t.equal(await rememberedSignatures(), 0)
})

async function rememberedSignatures(): Promise<number> {
  const { rows } = await admin.query('select count(*)::int as remembered from gateway.used_signature')
  return rows[0].remembered
}
