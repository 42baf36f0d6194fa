import fc from 'fast-check'
import t from 'tap'
import { compressCopy, expandCopy } from '../../src/database/compressed-copies.ts'

t.test('any bytes come back as they were', async (t) => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 3_000 }),
        fc.json().map((text) => Buffer.from(text)),
      ),
      fc.string(),
      (bytes, beside) => {
        const stored = Buffer.from(bytes)
        t.ok(expandCopy(compressCopy(stored)).equals(stored))
        t.ok(expandCopy(compressCopy(stored, beside), beside).equals(stored))
        t.ok(expandCopy(compressCopy(stored), beside).equals(stored), 'a copy that was stored without it')
      },
    ),
  )
})

t.test('the body of a deposit takes less than half of its bytes', async (t) => {
  const deposit = {
    id: 'dep_01kkqz3b8xf4prf0v2m8m3jtc9',
    playerId: 'ply_01kkqz3b8xf4prf0v2m8m3jtd3',
    ...{ amount: '150.00', currency: 'BRL', method: 'pix', externalReference: '5c7eeb67-3ded-4dc4-b25e-6f98c3b5edbb' },
    ...{ status: 'confirmed', failureReason: null, createdAt: '2026-11-22T03:19:52.001Z' },
    ...{ confirmedAt: '2026-11-22T03:19:52.123Z', failedAt: null },
  }
  const body = Buffer.from(JSON.stringify(deposit))
  t.ok(compressCopy(body).length < body.length / 2, `${compressCopy(body).length} of ${body.length}`)
  const shorter = compressCopy(body, `${deposit.id} ${deposit.playerId}`)
  t.ok(shorter.length < compressCopy(body).length - 15, `${shorter.length} beside its ids`)
})

t.test('what is shorter as it is stays as it is', async (t) => {
  t.ok(compressCopy(Buffer.from('ü7')).equals(Buffer.from('ü7')))
  t.equal(expandCopy(Buffer.alloc(0)).length, 0)
})

t.test('a copy that was stored long ago can be read: the dictionary is the same', async (t) => {
  t.equal(expandCopy(Buffer.from('AUMKHEPs7q8FAA==', 'base64')).toString(), '{"id":"dep_1","status":"confirmed"}')
})
