import { createHash } from 'node:crypto'
import { operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { refusal, testBed } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { wallet } from '../../src/service.ts'
import { decodeCursor, encodeCursor, ledgerItemId, sealOf, transferIdOf } from '../../src/statement/views.ts'

const bed = await testBed(t, { wallet })
const scope = bed.scope()
const effectiveAt = '2026-03-02T12:00:00.000Z'
const { creditAccount, getWallet, listTransactions, openAccount } = operations.wallet

async function player(...amounts: string[]): Promise<string> {
  const playerId = newId('ply')
  await bed.rpc.call(openAccount, { scope, input: { playerId } })
  for (const amount of amounts)
    await bed.rpc.call(creditAccount, { scope, input: { playerId, depositId: newId('dep'), amount, effectiveAt } })
  return playerId
}

const list = (input: { playerId: string; limit?: number; cursor?: string }, as: Scope = scope) =>
  bed.rpc.call(listTransactions, { scope: as, input })

t.test('the statement is newest first, with the balance after each entry', async (t) => {
  const playerId = await player('10.00', '2.5', '0.01')
  const { data, nextCursor } = await list({ playerId })
  t.equal(nextCursor, null)
  t.same(
    data.map(({ amount, balanceAfter, type, currency }) => [amount, balanceAfter, type, currency]),
    [
      ['0.01', '12.51', 'DEPOSIT', 'BRL'],
      ['2.50', '12.50', 'DEPOSIT', 'BRL'],
      ['10.00', '10.00', 'DEPOSIT', 'BRL'],
    ],
  )
  for (const item of data) {
    t.match(item.id, /^led_/)
    t.equal(item.reference.type, 'deposit')
  }
})

t.test('pages follow each other without gap or repetition, whatever is entered in between', async (t) => {
  const playerId = await player('1.00', '2.00', '3.00', '4.00', '5.00')
  const first = await list({ playerId, limit: 2 })
  await bed.rpc.call(creditAccount, {
    scope,
    input: { playerId, depositId: newId('dep'), amount: '6.00', effectiveAt },
  })
  const second = await list({ playerId, limit: 2, cursor: first.nextCursor ?? '' })
  const third = await list({ playerId, limit: 2, cursor: second.nextCursor ?? '' })
  t.same(
    [first, second, third].map(({ data }) => data.map(({ amount }) => amount)),
    [['5.00', '4.00'], ['3.00', '2.00'], ['1.00']],
  )
  t.equal(third.nextCursor, null)
})

t.test('the last page that is full ends the statement', async (t) => {
  const playerId = await player('1.00', '2.00')
  t.equal((await list({ playerId, limit: 2 })).nextCursor, null)
})

t.test("a cursor that was altered, invented or another player's is a validation error", async (t) => {
  const playerId = await player('1.00', '2.00', '3.00')
  const other = await player('1.00', '2.00', '3.00')
  const cursor = (await list({ playerId, limit: 1 })).nextCursor ?? ''
  const altered = `${cursor.slice(0, 8)}${cursor[8] === 'A' ? 'B' : 'A'}${cursor.slice(9)}`
  for (const [why, input] of Object.entries({
    altered: { playerId, cursor: altered },
    invented: { playerId, cursor: 'AAAA' },
    'not base64': { playerId, cursor: '%%%' },
    "another player's": { playerId: other, cursor },
  }))
    t.equal(await refusal(list(input)), 'VALIDATION_ERROR', why)
  t.equal(await refusal(list({ playerId, cursor })), null)
})

t.test('reads that are made at once are each answered by themselves, the refused ones among them', async (t) => {
  const playerId = await player('1.00', '2.00', '3.00')
  const other = await player('9.00')
  const cursor = (await list({ playerId, limit: 1 })).nextCursor ?? ''
  const shown = (input: Parameters<typeof list>[0]) =>
    list(input).then(
      ({ data }) => data.map(({ amount }) => amount),
      (error) => error.code,
    )
  for (let round = 0; round < 10; round++)
    t.same(
      await Promise.all([
        shown({ playerId, limit: 1 }),
        shown({ playerId: other, cursor }),
        shown({ playerId, cursor, limit: 1 }),
        shown({ playerId: 'ply_unknown' }),
        shown({ playerId: 'ply_unknown', cursor }),
        shown({ playerId, cursor: 'AAAA' }),
        shown({ playerId: other }),
        shown({ playerId, cursor }),
      ]),
      [
        ['3.00'],
        'VALIDATION_ERROR',
        ['2.00'],
        'PLAYER_NOT_FOUND',
        'PLAYER_NOT_FOUND',
        'VALIDATION_ERROR',
        ['9.00'],
        ['2.00', '1.00'],
      ],
    )
  const wallets = [playerId, 'ply_unknown', other].map((id) =>
    bed.rpc.call(getWallet, { scope, input: { playerId: id } }).then(
      (wallet) => [wallet.playerId, wallet.available],
      (error) => error.code,
    ),
  )
  t.same(await Promise.all(wallets), [[playerId, '6.00'], 'PLAYER_NOT_FOUND', [other, '9.00']])
})

t.test('a page has 50 items unless another number is asked for, from 1 to 200', async (t) => {
  const playerId = await player(...Array<string>(51).fill('1.00'))
  const { data, nextCursor } = await list({ playerId })
  t.equal(data.length, 50)
  t.match(await list({ playerId, cursor: nextCursor ?? '' }), { data: { length: 1 }, nextCursor: null })
  for (const limit of [0, 201, 1.5]) t.equal(await refusal(list({ playerId, limit })), 'VALIDATION_ERROR')
  for (const limit of [1, 200]) t.equal(await refusal(list({ playerId, limit })), null)
})

const hash = createHash('sha256').update('entry').digest()

t.test('property: text that is no cursor is refused, and never throws', async () => {
  fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => decodeCursor(text) === null || text.length === 32))
})

t.test('a cursor has one spelling, and keeps it: one that was given out before is still read', async (t) => {
  const cursor = 'AAAAAAAAACrT8eGd0YZXVzYwCwlEUEb5'
  t.equal(encodeCursor({ seq: 42n, hash }), cursor)
  const position = decodeCursor(cursor)
  t.equal(position?.seq, 42n)
  t.ok(position?.seal.equals(sealOf(hash)))
  for (const other of [`${cursor}=`, ` ${cursor}`, `${cursor}\n`, cursor.slice(0, -1)])
    t.equal(decodeCursor(other), null)
})

t.test('entries are numbered from 1: a cursor of another number is none', async (t) => {
  for (const seq of [-1n, 0n, 1n]) t.equal(decodeCursor(encodeCursor({ seq, hash }))?.seq, seq > 0n ? seq : undefined)
})

t.test("an entry's id and its transfer's follow from each other", async (t) => {
  t.equal(ledgerItemId('trf_01kaj6'), 'led_01kaj6')
  t.equal(transferIdOf('led_01kaj6'), 'trf_01kaj6')
  t.equal(transferIdOf('trf_01kaj6'), 'trf_01kaj6')
  t.equal(transferIdOf('dep_01kaj6'), 'dep_01kaj6', 'the id of another record is no transfer of the same number')
})
