import type { Scope } from '@backoffice/contracts'
import t from 'tap'
import { anonymise, type Obligations, type PlayerRecord, register, setStatus } from '../../src/players/player.ts'

const scope: Scope = {
  operatorId: 'op_1',
  brandId: 'brd_1',
  environment: 'production',
  currency: 'BRL',
  timeZone: 'America/Sao_Paulo',
}
const person = {
  externalId: 'user-1',
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: '529.982.247-25',
  phone: '+5511987654321',
  birthDate: '1990-05-17',
}
const closedAt = new Date('2026-03-02T12:00:00.000Z')
const closed: PlayerRecord = {
  ...register(person, scope, { now: new Date('2025-01-01T00:00:00.000Z'), newId: () => 'ply_1' }),
  status: 'encerrado',
  kycReason: 'Ana sent her passport',
}
const nothing: Obligations = {
  posted: 0n,
  held: 0n,
  openDeposits: 0,
  openWithdrawals: 0,
  lastChangeAt: closedAt,
}
const keepYears = 5
let ids = 0
const newId = () => {
  ids += 1
  return `ply_new_${ids}`
}
const given = { newId, keepYears, isExcluded: false }
const over = new Date('2031-03-02T12:00:00.000Z')

t.test('everything that identifies the person is replaced; ids, status and dates stay', async (t) => {
  const { player, change } = anonymise(closed, nothing, { now: over, ...given })
  for (const value of [...Object.values(person), '52998224725', closed.kycReason])
    t.notOk(Object.values(player).includes(value ?? ''), String(value))
  const { id, operatorId, brandId, status, kycStatus, createdAt } = closed
  t.match(player, { id, operatorId, brandId, status, kycStatus, createdAt })
  t.strictSame(change, { field: 'identity', previous: null, next: 'anonymised' })
})

t.test('two players of one brand get different external ids', async (t) => {
  const of = (id: string) => anonymise({ ...closed, id }, nothing, { now: over, ...given }).player.externalId
  t.not(of('ply_1'), of('ply_2'))
  t.notMatch(of('ply_1'), 'ply_1', 'nor one that could have been guessed and taken before')
})

t.test('who is anonymised already stays so, whatever is open by now', async (t) => {
  const { player } = anonymise(closed, nothing, { now: over, ...given })
  t.strictSame(anonymise(player, { ...nothing, posted: 1n }, { now: closedAt, ...given }), {
    player,
    change: null,
  })
})

const cases: readonly (readonly [string, Partial<PlayerRecord>, Partial<Obligations>, Date])[] = [
  ['status', { status: 'ativo' }, {}, over],
  ['money', {}, { posted: 1n }, over],
  ['money', {}, { held: 1n }, over],
  ['deposits', {}, { openDeposits: 1 }, over],
  ['withdrawals', {}, { openWithdrawals: 1 }, over],
  ['retention', {}, {}, new Date(over.getTime() - 1)],
  ['retention', {}, { lastChangeAt: new Date(closedAt.getTime() + 1) }, over],
  ['money,deposits,retention', {}, { posted: 5n, openDeposits: 2 }, closedAt],
]

for (const [reasons, fields, open, now] of cases) {
  t.test(`refused: ${reasons} ${Object.keys({ ...fields, ...open })}`, async (t) => {
    t.throws(() => anonymise({ ...closed, ...fields }, { ...nothing, ...open }, { now, ...given }), {
      code: 'PLAYER_DATA_NEEDED',
      details: { reasons: reasons.split(','), keptUntil: String },
    })
  })
}

t.test('refused while a self-exclusion of the person runs, by this player or another', async (t) => {
  t.throws(() => anonymise(closed, nothing, { now: over, ...given, isExcluded: true }), {
    code: 'PLAYER_DATA_NEEDED',
    details: { reasons: ['self_exclusion'] },
  })
})

t.test('who is anonymised stays encerrado, since nobody knows whose the player would be', async (t) => {
  const { player } = anonymise(closed, nothing, { now: over, ...given })
  t.throws(() => setStatus(player, 'ativo'), { code: 'VALIDATION_ERROR', details: { issues: [{ path: '/status' }] } })
  t.strictSame(setStatus(player, 'encerrado'), { player, change: null })
})
