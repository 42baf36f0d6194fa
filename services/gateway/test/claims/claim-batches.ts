import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { type ClaimKey, type ClaimRequest, claimKeys, releaseClaims, storeResponses } from '../../src/claims/records.ts'
import { type ClaimBed, newKey, requestFor, response } from './claim-bed.ts'

/** Claims, replies and releases of many keys in one statement. */
export function batchTests(t: Test, { bed, db, store, expire }: ClaimBed): void {
  t.test('an attempt whose batch runs again has its key still, and nobody else gets it', async (t) => {
    const key = newKey()
    const request = requestFor(key)
    const [first] = await claimKeys(db, [request])
    t.strictSame(await claimKeys(db, [request, requestFor(key)]), [first, { state: 'running', remainingMs: 60_000 }])
    await store(request, 'a')
    t.match(await claimKeys(db, [request]), [{ state: 'replay' }], 'until it has stored its reply')
  })

  t.test(
    'twins of one batch: the first has the key, the others wait or conflict by their own fingerprint',
    async (t) => {
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
    },
  )

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
    }
    const earlier = new Map(Object.keys(expected).map((name) => [name, requestFor(newKey())]))
    const of = (...names: string[]) =>
      [...earlier].flatMap(([name, request]) => (names.includes(name) ? [request] : []))
    await claimKeys(db, of('running', 'released', 'answered', 'forgotten', 'unresolved'))
    await releaseClaims(db, of('released', 'unresolved'))
    await storeResponses(
      db,
      of('answered', 'forgotten').map((attempt) => ({ ...attempt, response: response('a') })),
    )
    for (const key of of('forgotten', 'unresolved')) await expire(key)

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
}
