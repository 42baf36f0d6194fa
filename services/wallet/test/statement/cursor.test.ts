import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { decodeCursor, encodeCursor, ledgerItemId, sealOf, transferIdOf } from '../../src/statement/item.ts'

const hash = createHash('sha256').update('entry').digest()

t.test('a cursor reads back as the entry it was made from', async (t) => {
  const position = decodeCursor(encodeCursor({ seq: 42n, hash }))
  t.equal(position?.seq, 42n)
  t.ok(position?.seal.equals(sealOf(hash)))
})

t.test('property: text that is no cursor is refused, and never throws', async () => {
  fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => decodeCursor(text) === null || text.length === 32))
})

t.test('a cursor has one spelling', async (t) => {
  const cursor = encodeCursor({ seq: 1n, hash })
  for (const other of [`${cursor}=`, ` ${cursor}`, `${cursor}\n`, cursor.slice(0, -1)])
    t.equal(decodeCursor(other), null)
})

t.test('a cursor keeps its form: one that was given out before is still read', async (t) => {
  t.equal(encodeCursor({ seq: 42n, hash }), 'AAAAAAAAACrT8eGd0YZXVzYwCwlEUEb5')
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
