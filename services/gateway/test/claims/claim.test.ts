import t from 'tap'
import { judgeUsedKey, type UsedKey } from '../../src/claims/claim.ts'

const [same, other] = [Buffer.from('same'), Buffer.from('other')]
const response = { status: 201, contentType: 'application/json', body: Buffer.from('{}'), requestId: 'req_1' }
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
  ['answered', { response }, 'replay', 'conflict'],
  ['running, past its memory', { expired: true, remainingMs: 5 }, 'running', 'running'],
  ['of unknown outcome, past its memory', { expired: true }, 'unresolved', 'unresolved'],
  ['answered, past its memory', { expired: true, response }, 'free', 'free'],
]
for (const [name, state, forSame, forOther] of table) {
  t.test(`a key that is ${name}: ${forSame} for the same request, ${forOther} for another`, async (t) => {
    const used = { ...base, ...state }
    t.equal(judgeUsedKey(used, Buffer.from(same))?.state ?? 'free', forSame)
    t.equal(judgeUsedKey(used, other)?.state ?? 'free', forOther)
  })
}

t.test('a judgement carries what its request needs', async (t) => {
  t.same(judgeUsedKey({ ...base, response }, same), { state: 'replay', response })
  t.same(judgeUsedKey({ ...base, remainingMs: 5 }, same), { state: 'running', remainingMs: 5 })
  const { operation, operationId } = base
  t.same(judgeUsedKey({ ...base, expired: true }, same), { state: 'unresolved', operation, operationId })
})
