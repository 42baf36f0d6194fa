import { Type } from '@sinclair/typebox'
import t from 'tap'
import { allOperations, eventKinds, events, operations, Player, type TeamRole, Withdrawal } from '../src/index.ts'
import {
  hasMasked,
  hasSealed,
  maskable,
  masked,
  maskedKindsFor,
  personal,
  personalKindsIn,
  putBack,
  takeOut,
} from '../src/personal.ts'

t.test('what a schema says about persons is found in fields, lists and what may be null', async (t) => {
  t.same([...personalKindsIn(Player)].sort(), ['birthDate', 'cpf', 'email', 'externalId', 'name', 'phone', 'player'])
  const list = Type.Object({ data: Type.Array(Type.Object({ playerId: Type.String() })) })
  t.same([...personalKindsIn(list)], ['player'])
  t.same([...personalKindsIn(operations.players.listGames.reply)], [])
})

const values = {
  cpf: [
    ['52998224725', '*********25'],
    ['*********25', '*********25'],
  ],
  email: [
    ['ana@example.com', 'a***@example.com'],
    ['a***@example.com', 'a***@example.com'],
    ['x@y.br', 'x***@y.br'],
  ],
  phone: [
    ['+5511987654321', '**********4321'],
    ['1133334444', '******4444'],
  ],
  birthDate: [['1990-05-17', '1990-**-**']],
  destination: [
    ['52998224725', '********25'],
    ['ana@example.com', '********om'],
    ['key-1', '***-1'],
    ['********om', '********om'],
  ],
} as const
const forSupport = maskedKindsFor(new Set(['support'] as const))

for (const [kind, cases] of Object.entries(values)) {
  t.test(`a masked ${kind} tells two persons apart and no more; masked again it is the same`, async (t) => {
    const schema = Type.Object({ value: personal(kind as keyof typeof values, Type.String()) })
    for (const [value, shown] of cases) t.strictSame(masked(schema, { value }, forSupport), { value: shown })
  })
}

t.test('where money is paid to is masked for support alone', async (t) => {
  const data = [{ amount: '40.00', destination: 'ana@example.com' }]
  const schema = Type.Object({ data: Type.Array(Withdrawal) })
  const shownTo = (...roles: readonly TeamRole[]) => masked(schema, { data }, maskedKindsFor(new Set(roles)))
  t.strictSame(shownTo('support'), { data: [{ amount: '40.00', destination: '********om' }] })
  for (const role of ['finance', 'compliance', 'integration', 'auditor'] as const)
    for (const roles of [[role], [role, 'support']] as const) t.strictSame(shownTo(...roles), { data }, roles.join())
  t.strictSame(masked(schema, { data }), { data })
})

t.test('only what is marked is masked, and null stays null', async (t) => {
  const schema = Type.Object({ data: Type.Array(Player) })
  const { example = {} } = operations.players.registerPlayer
  const player = { ...(example.reply as Record<string, string>), phone: null }
  const { cpf, email, birthDate, ...others } = player as Record<string, string | null>
  t.match([cpf, email, birthDate], [/^\d{11}$/, /@/, /^\d/])
  t.match(masked(schema, { data: [player] }), { data: [{ ...others, cpf: /^\*+25$/, email: /\*/, birthDate: /\*/ }] })
})

t.test('a masked value fits what the team is promised, and nothing else becomes wider', async (t) => {
  const { Value } = await import('@sinclair/typebox/value')
  const { example = {} } = operations.players.registerPlayer
  t.notOk(Value.Check(Player, masked(Player, example.reply)))
  t.ok(Value.Check(maskable(Player), masked(Player, example.reply)))
  const kyc = operations.players.getKyc.reply
  t.equal(maskable(kyc), kyc)
})

t.test('every text that an operator writes about a player is marked, but for labels', async (t) => {
  const { registerPlayer, submitKyc } = operations.players
  const { createDeposit, failDeposit, requestWithdrawal } = operations.payments
  const unmarked = [registerPlayer, submitKyc, createDeposit, failDeposit, requestWithdrawal].flatMap(({ body }) =>
    Object.entries(body.properties).flatMap(([name, schema]) => (personalKindsIn(schema).size === 0 ? [name] : [])),
  )
  const labels = ['documentType', 'amount', 'currency', 'method', 'externalReference']
  t.same(new Set(unmarked), new Set(labels))
})

t.test('no event carries a CPF, an e-mail address, a phone number or a date of birth', async (t) => {
  t.same(
    eventKinds.filter((kind) => hasMasked(events[kind].data)),
    [],
  )
})

t.test('values are shown in full only of one player, for a reason, by a query of the team', async (t) => {
  const unmasking = allOperations.filter(({ body }) => 'unmask' in body.properties)
  t.ok(unmasking.length > 0)
  for (const { id, audience, kind, body } of unmasking) {
    t.match({ audience, kind }, { audience: 'team', kind: 'query' }, id)
    t.ok('playerId' in body.properties && 'reason' in body.properties, id)
  }
})

t.test('what must be sealed is taken out of a value, and put back in its place', async (t) => {
  const cpf = personal('cpf', Type.String())
  const schema = Type.Object({
    id: Type.String(),
    cpf,
    people: Type.Array(Type.Object({ cpf, name: personal('name', Type.String()) })),
    phone: Type.Union([personal('phone', Type.String()), Type.Null()]),
  })
  const value = { id: '1', cpf: '2', people: [{ cpf: '3', name: 'Ana' }], phone: null, unknown: '4' }
  const { rest, taken } = takeOut(schema, value)
  t.same(rest, { id: '1', cpf: '', people: [{ cpf: '', name: 'Ana' }], phone: null, unknown: '4' })
  t.equal(JSON.stringify(putBack(rest, taken)), JSON.stringify(value), 'in the same order')
  t.same(takeOut(Type.Object({ id: Type.String() }), value), { rest: value, taken: [] })
})

t.test('of the team the search alone is given what must be sealed, and the audit trail leaves it out', async (t) => {
  const given = allOperations.filter(({ params, query, body }) => [params, query, body].some(hasSealed))
  t.same(given.map(({ id }) => id).sort(), ['registerPlayer', 'requestWithdrawal', 'searchPlayers'])
})

t.test('nothing of the wallet must be sealed: it has no keys', async (t) => {
  const carrying = Object.values(operations.wallet).filter(({ params, query, body, reply }) =>
    [params, query, body, reply].some(hasSealed),
  )
  t.same(carrying, [])
})
