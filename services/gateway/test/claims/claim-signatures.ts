import { randomUUID } from 'node:crypto'
import { purge } from '@backoffice/service-runtime/testing'
import type { Test } from 'tap'
import { claimKeys, useSignatures } from '../../src/claims/records.ts'
import { gateway } from '../../src/service.ts'
import { type ClaimBed, newKey, requestFor } from './claim-bed.ts'

/** Under replay protection: a signature is good for one request. */
export function signatureTests(t: Test, { bed, admin, db, claim, store }: ClaimBed): void {
  t.test('a signature is accepted under the key of its first request, and under no other', async (t) => {
    const [key, other] = [newKey(), newKey()]
    const signature = randomUUID()
    const first = claim(key, { signature })
    t.match(await first.outcome, { state: 'mine' })
    t.match(await claim(other, { signature }).outcome, { state: 'signature used' })
    await store(first, 'a')
    t.match(await claim(key, { signature }).outcome, { state: 'replay' }, 'a retry within the second')
    t.match(await claim(key, { signature: randomUUID() }).outcome, { state: 'replay' }, 'a retry later on')
    t.match(
      await claim(other, { signature: randomUUID() }).outcome,
      { state: 'mine' },
      'the refused key was not used up',
    )
  })

  t.test('of requests with one signature under many keys exactly one goes on, in one batch or in many', async (t) => {
    const signature = randomUUID()
    const inOneBatch = Array.from({ length: 12 }, () => requestFor(newKey(), { signature }))
    const states = (await claimKeys(db, inOneBatch)).map(({ state }) => state)
    t.strictSame(states, ['mine', ...Array.from({ length: 11 }, () => 'signature used')])
    const another = randomUUID()
    const atOnce = await Promise.all(
      Array.from({ length: 12 }, () =>
        claim(newKey(), { signature: another }).outcome.then((claimed) => claimed?.state),
      ),
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
    for (const signature of signatures)
      t.match(await claim(newKey(), { signature }).outcome, { state: 'signature used' })
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
}
