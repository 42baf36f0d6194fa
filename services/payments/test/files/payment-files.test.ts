import { operations } from '@backoffice/contracts'
import { refusal } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { moneyPath, outcomes } from '../money-path.ts'

const path = await moneyPath(t)
const production = path.in({ environment: 'production' })
const { bed } = path
const { makePaymentFile, showPaymentFile, discardPaymentFile, withdrawalQueue, showWithdrawal } = operations.payments
const [alice, bob] = [bed.team('alice'), bed.team('bob')]
const reason = 'the bank refused the whole file'

async function approved(where = production, body: { readonly destination?: string } = {}): Promise<string> {
  const { id } = await where.requestWithdrawal(await where.newPlayerWith('100.00'), body)
  await where.decide('alice', id, 'approve')
  return id
}
const make = (ids: readonly string[], by = bob) => by.call(makePaymentFile, { input: { ids: [...ids] } })
const show = (fileId: string) => bob.call(showPaymentFile, { input: { fileId } })

/** In how many files that nobody discarded each of these is, by the records of what they contain. */
async function timesIn(ids: readonly string[]): Promise<readonly number[]> {
  const rows = await path.rows<{ times: number }>(
    `select (select count(*)::int from payment_file f where f.discarded_at is null and asked.id = any(f.withdrawal_ids)) as times
    from unnest($1::text[]) with ordinality as asked (id, place) order by place`,
    [ids],
  )
  return rows.map(({ times }) => times)
}

await t.test('whoever makes and discards files at once, no withdrawal is in two', async (t) => {
  const ids = await Promise.all(Array.from({ length: 4 }, () => approved()))
  const second = await bed.start('payments')
  t.teardown(() => second.drain())
  const sets = fc.array(fc.subarray(ids, { minLength: 1 }), { minLength: 2, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(sets, fc.boolean(), async (chosen, isDiscarding) => {
      const made = chosen.map((some, place) => make(some, place % 2 === 0 ? alice : bob))
      const files = (await Promise.allSettled(made)).flatMap((one) =>
        one.status === 'fulfilled' ? [one.value.fileId] : [],
      )
      t.ok(files.length > 0, 'the first of them is made')
      t.ok(
        (await timesIn(ids)).every((times) => times <= 1),
        JSON.stringify(chosen),
      )
      // While one is discarded somebody makes the next.
      const again = isDiscarding ? chosen.map((some) => refusal(make(some))) : []
      for (const fileId of files) await bob.call(discardPaymentFile, { input: { fileId, reason } })
      await Promise.all(again)
      t.ok(
        (await timesIn(ids)).every((times) => times <= 1),
        'nor afterwards',
      )
      const left = await path.rows<{ id: string }>('select id from payment_file where discarded_at is null')
      for (const { id: fileId } of left) await bob.call(discardPaymentFile, { input: { fileId, reason } })
    }),
    { numRuns: 10 },
  )
})

await t.test(
  'a file has what it was made of, in that order, whatever becomes of it; the queue and the case name it',
  async (t) => {
    const ids = [await approved(), await approved(), await approved()]
    const order = [ids[2], ids[0], ids[1]] as string[]
    const { fileId } = await make(order)
    const file = await show(fileId)
    t.match(file, {
      id: fileId,
      environment: 'production',
      batchNumber: null,
      madeBy: 'bob',
      discardedAt: null,
      waiting: 3,
    })
    t.strictSame(
      file.withdrawals.map(({ id }) => id),
      order,
    )
    const paymentFile = { id: fileId, madeBy: 'bob', madeAt: file.madeAt, batchNumber: null }
    const { data } = await bob.call(withdrawalQueue, {
      input: { environment: 'production', status: 'approved', limit: 200 },
    })
    for (const id of ids) {
      t.match(data.find((one) => one.id === id)?.paymentFile, paymentFile)
      t.match((await bob.call(showWithdrawal, { input: { withdrawalId: id } })).paymentFile, paymentFile)
    }
    await production.decide('bob', ids[0] ?? '', 'pay')
    const left = await show(fileId)
    t.equal(left.waiting, 2)
    t.strictSame(
      left.withdrawals.map(({ status }) => status),
      ['approved', 'paid', 'approved'],
    )
    t.same(await path.differences(), [])
    await bob.call(discardPaymentFile, { input: { fileId, reason } })
  },
)

await t.test(
  'a file is discarded with a reason, by who was shown what is left of it; then all that waits is free',
  async (t) => {
    const [paid = '', waits = ''] = [await approved(), await approved()]
    const { fileId } = await make([paid, waits])
    const discard = (seen: object) => bob.call(discardPaymentFile, { input: { fileId, reason, seen } as never })
    const seen = { environment: 'production', waiting: 2 }
    await production.decide('bob', paid, 'pay')
    t.equal(await refusal(discard(seen)), 'NOT_AS_SEEN', 'somebody has paid one since')
    t.equal(await refusal(make([waits])), 'WITHDRAWAL_IN_FILE')
    await discard({ ...seen, waiting: 1 })
    t.equal(await refusal(discard({ ...seen, waiting: 1 })), 'PAYMENT_FILE_DISCARDED')
    t.match(await show(fileId), { discardedBy: 'bob', discardReason: reason })
    const { paymentFile } = await bob.call(showWithdrawal, { input: { withdrawalId: waits } })
    t.equal(paymentFile, null)
    const { fileId: next } = await make([waits])
    const { data } = await bob.call(operations.payments.listAudit, { input: { subject: fileId, limit: 10 } })
    t.match(
      data.filter(({ operation }) => operation === discardPaymentFile.id),
      [
        { actor: 'bob', outcome: 'PAYMENT_FILE_DISCARDED' },
        { actor: 'bob', outcome: 'done', reason, changes: [{ field: 'discarded', after: '1' }] },
        { actor: 'bob', outcome: 'NOT_AS_SEEN' },
      ],
    )
    t.equal(await refusal(bob.call(showPaymentFile, { input: { fileId: 'pfl_unknown' } })), 'PAYMENT_FILE_NOT_FOUND')
    await bob.call(discardPaymentFile, { input: { fileId: next, reason } })
  },
)

await t.test('what cannot be paid is in no file, and nothing of a file is made then', async (t) => {
  const good = await approved()
  const { id: reviewed } = await production.requestWithdrawal(await production.newPlayerWith('100.00'))
  const [unreserved, other] = [await approved(), await approved(path)]
  const release = "update wallet.hold set state = 'released', closed_at = now() where reference = $1"
  await bed.sql('admin').query(release, [unreserved])
  const noKey = await approved(production, { destination: '001 1234-5 98765-X' })
  const batch = (ids: readonly string[], more = { agreement: '001 123' }) =>
    bob.call(makePaymentFile, { input: { ids: [...ids], batchNumber: 7, ...more } })
  t.equal(await refusal(make([good, 'wdr_unknown'])), 'WITHDRAWAL_NOT_FOUND')
  t.equal(await refusal(make([good, reviewed])), 'WITHDRAWAL_INVALID_STATE')
  t.equal(await refusal(make([good, unreserved])), 'WITHDRAWAL_NOT_RESERVED')
  t.equal(await refusal(make([good, other])), 'VALIDATION_ERROR', 'of both environments')
  t.equal(await refusal(batch([good, noKey])), 'VALIDATION_ERROR', 'a Pix batch has no place for it')
  t.equal(await refusal(batch([good], {} as never)), 'VALIDATION_ERROR', 'whose number it is')
  t.same(await timesIn([good]), [0])
  const calls = [batch([good]), make([good]), make([good], alice)]
  t.same(await outcomes(calls), { done: 1, WITHDRAWAL_IN_FILE: 2 })
  t.equal(await refusal(bed.team('support').call(makePaymentFile, { input: { ids: [noKey] } })), 'ROLE_REQUIRED')
  t.equal(await refusal(make([noKey])), null, 'a CSV file takes any destination')
  t.equal(await refusal(make([other])), null, 'and the sandbox has files of its own')
})

await t.test(
  'no statement takes a withdrawal out of its file, or changes or deletes what a file contains',
  async (t) => {
    const id = await approved()
    const { fileId } = await make([id])
    for (const [statement, error] of [
      [`update payments.withdrawal set payment_file = null where id = '${id}'`, /is in file/],
      [`update payments.withdrawal set payment_file = 'pfl_other' where id = '${id}'`, /is in file/],
      [`update payments.payment_file set withdrawal_ids = '{}' where id = '${fileId}'`, /kept as it was written/],
      [`delete from payments.payment_file where id = '${fileId}'`, /append-only/],
    ] as const)
      await t.rejects(bed.sql('admin').query(statement), error, statement)
    await bob.call(discardPaymentFile, { input: { fileId, reason } })
    await t.rejects(
      bed.sql('admin').query('update payments.payment_file set discarded_at = null where id = $1', [fileId]),
      /kept as it was written/,
      'nor is a file there again that was discarded',
    )
  },
)

await t.test(
  'an agreement has each number once, also of two files at once, and again when that one is discarded',
  async (t) => {
    const second = await bed.start('payments')
    t.teardown(() => second.drain())
    const ids = await Promise.all(Array.from({ length: 6 }, () => approved()))
    const batch = (id = '', agreement = '341 9', by = bob) =>
      by.call(makePaymentFile, { input: { ids: [id], batchNumber: 41, agreement } })
    const made = await Promise.allSettled(
      ids.slice(0, 4).map((id, place) => batch(id, '341 9', place % 2 ? alice : bob)),
    )
    const files = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.fileId] : []))
    t.equal(files.length, 1)
    t.same([...(await timesIn(ids))].sort(), [0, 0, 0, 0, 0, 1], 'what was refused is in none')
    t.equal(await refusal(batch(ids[4])), 'BATCH_NUMBER_USED')
    t.equal(await refusal(batch(ids[4], '341 10')), null, 'another agreement has numbers of its own')
    await bob.call(discardPaymentFile, { input: { fileId: files[0] ?? '', reason } })
    t.equal(await refusal(batch(ids[5])), null)
  },
)
