import { randomUUID } from 'node:crypto'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import type { StoredResponse } from '../../src/domain/claim.ts'
import { gateway } from '../../src/service.ts'
import {
  type ClaimAttempt,
  type ClaimKey,
  type ClaimRequest,
  claimKeys,
  forgetClaim,
  releaseClaims,
  storeResponses,
} from '../../src/storage/claims.ts'

const bed = await testBed(t, { gateway })
const { db } = bed.services.gateway

const newKey = (): ClaimKey => ({ operatorId: 'op_1', environment: 'sandbox', key: randomUUID() })
const response = (text: string): StoredResponse => ({
  status: 201,
  contentType: 'application/json',
  body: Buffer.from(text),
  requestId: `req_${text}`,
})

/** A request for a key, with a token and an operation id of its own. */
function requestFor(key: ClaimKey, { fingerprint = 'same', leaseMs = 60_000 } = {}): ClaimRequest {
  const token = randomUUID()
  return {
    ...key,
    fingerprint: Buffer.from(fingerprint),
    operation: 'createDeposit',
    operationId: `opn_${token}`,
    token,
    leaseMs,
  }
}

/** One claim in a batch of its own. */
function claim(key: ClaimKey, options?: Parameters<typeof requestFor>[1]) {
  const request = requestFor(key, options)
  return { ...request, outcome: claimKeys(db, [request]).then(([claimed]) => claimed) }
}

const store = async (attempt: ClaimAttempt, text: string) =>
  (await storeResponses(db, [{ ...attempt, response: response(text) }]))[0]

/** What time does to a claim. */
const expire = ({ key }: ClaimKey) =>
  bed.sql('admin').query(`update gateway.claim set expires_at = now() - interval '1 second' where key = $1`, [key])
const endLease = ({ key }: ClaimKey) =>
  bed.sql('admin').query(`update gateway.claim set leased_until = now() - interval '1 second' where key = $1`, [key])

t.test('of thirty parallel claims of one key exactly one is ours, the rest see it running', async (t) => {
  const key = newKey()
  const outcomes = await Promise.all(Array.from({ length: 30 }, () => claim(key).outcome))
  t.strictSame(outcomes.map((claimed) => claimed?.state).sort(), [
    'mine',
    ...Array.from({ length: 29 }, () => 'running'),
  ])
})

t.test('a conflict is judged before in-progress, and neither touches the claim', async (t) => {
  const key = newKey()
  const first = claim(key)
  t.match(await first.outcome, { state: 'mine', operationId: first.operationId })
  t.match(await claim(key, { fingerprint: 'other' }).outcome, { state: 'conflict' })
  t.match(await claim(key).outcome, { state: 'running' })
  t.ok(await store(first, 'a'))
})

t.test(
  'a claim whose lease is over, or which was released, goes on under the first operation id; another body is still a conflict',
  async (t) => {
    const key = newKey()
    const first = claim(key)
    await first.outcome
    await endLease(key)
    t.match(await claim(key, { fingerprint: 'other' }).outcome, { state: 'conflict' })
    const second = claim(key)
    t.match(await second.outcome, { state: 'mine', operationId: first.operationId })
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
    t.match(await store(slow, 'slow'), {
      requestId: 'req_quick',
      body: Buffer.from('quick'),
    })
    t.match(await claim(key).outcome, { state: 'replay', response: response('quick') })
  },
)

t.test('past its memory an answered key is new: another body, another operation id', async (t) => {
  const key = newKey()
  const first = claim(key)
  await first.outcome
  await store(first, 'a')
  await expire(key)
  const next = claim(key, { fingerprint: 'other' })
  t.match(await next.outcome, { state: 'mine', operationId: next.operationId })
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

t.test('keys of the sandbox and of production are apart', async (t) => {
  const key = newKey()
  t.match(await claim(key).outcome, { state: 'mine' })
  t.match(await claim({ ...key, environment: 'production' }).outcome, { state: 'mine' })
  t.match(await claim({ ...key, operatorId: 'op_2' }).outcome, { state: 'mine' })
})

t.test('a lease ends by itself', async () => {
  const key = newKey()
  await claim(key, { leaseMs: 100 }).outcome
  await eventually(async () => (await claim(key).outcome)?.state === 'mine')
})
