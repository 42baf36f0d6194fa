import t from 'tap'
import { bytesText } from '../src/bytes/bytes-text.ts'
import type { TableGrowth } from '../src/bytes/measure-bytes.ts'

const of = (table: string, heap: number, indexes: number, wal: number): TableGrowth => ({
  table,
  heap,
  indexes,
  toast: 0,
  wal,
})

t.test('the sizes of disks follow from the bytes of a deposit and from how long they are kept', async (t) => {
  const text = bytesText({
    deposits: 100,
    tables: [of('gateway.claim', 800, 200, 1_500), of('wallet.entry', 400, 100, 700), of('webhooks.secret', 1, 0, 0)],
    wal: 3_000,
    streamBytesPerEvent: 500,
    failures: { 'POST: 503': 2 },
  })
  t.match(text, /gateway\.claim +800 +200 +0 +1,000 +1,500 +24 hours/)
  t.match(text, /wallet\.entry .* for ever/)
  t.notMatch(text, /webhooks\.secret/, 'what is next to nothing is left out')
  t.match(text, /1,501 bytes a deposit, 501 of them for ever\. Byte-days of what is deleted again: 1,000\./)
  // 30 a second for a day are 2,592,000 deposits of 1,000 bytes.
  t.match(text, /\n30 +2\.59 +1\.30 +7\.78 +1\.30\n/)
  t.match(text, /FAILED:\n\n? *2 × POST: 503/)
})
