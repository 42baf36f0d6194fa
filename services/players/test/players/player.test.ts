import { invalid, kycDecisions, kycStatuses, playerStatuses, type Scope } from '@backoffice/contracts'
import fc from 'fast-check'
import t from 'tap'
import { limitHoldsFrom } from '../../src/players/changes.ts'
import {
  anonymise,
  calendarDay,
  decide,
  isAdult,
  isSelfExcluded,
  kycAt,
  limitNow,
  type Obligations,
  type PlayerRecord,
  register,
  selfExclude,
  setLimit,
  setStatus,
  submit,
} from '../../src/players/player.ts'
import { nameWords } from '../../src/players/search.ts'

t.test('a player is an adult from the 18th birthday on', async (t) => {
  const cases: readonly [birthDate: string, today: string, adult: boolean][] = [
    ['2008-03-02', '2026-03-01', false],
    ['2008-03-02', '2026-03-02', true],
    ['2008-02-29', '2026-02-28', false],
    ['2008-02-29', '2026-03-01', true],
    ['1900-01-01', '2026-03-01', true],
    ['2030-01-01', '2026-03-01', false],
  ]
  for (const [birthDate, today, adult] of cases) t.equal(isAdult(birthDate, today), adult, `${birthDate} on ${today}`)
})

t.test('an adult was born at least 18 years ago, whatever the years', async () => {
  const at = { noInvalidDate: true, min: new Date('1900-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z') }
  const born = fc.date({ ...at, min: new Date('0001-01-01T00:00:00Z') })
  const parts = (date: string) => date.split('-').map(Number) as [number, number, number]
  const property = fc.property(born, fc.date(at), (birth, now) => {
    const [birthDate, today] = [birth, now].map((date) => date.toISOString().slice(0, 10)) as [string, string]
    const [[year, ...day], [thisYear, ...thisDay]] = [parts(birthDate), parts(today)]
    const hadBirthday = day[0] < thisDay[0] || (day[0] === thisDay[0] && day[1] <= thisDay[1])
    return isAdult(birthDate, today) === thisYear - year - (hadBirthday ? 0 : 1) >= 18
  })
  fc.assert(property, { examples: [[new Date('9990-06-01'), new Date('2026-03-01')]] })
})

t.test('who is registered was born between 1900 and today', async (t) => {
  const now = new Date('2026-03-02T12:00:00.000Z')
  const request = { externalId: 'x', name: 'Ana', email: 'a@b.co', cpf: '52998224725', birthDate: '' }
  for (const birthDate of ['1899-12-31', '2026-03-03', '9990-06-01', '9999-12-31'])
    t.throws(
      () => register({ ...request, birthDate }, scope, { now, newId: () => 'ply_1' }),
      invalid('body', '/birthDate', 'must lie between 1900-01-01 and today'),
    )
})

t.test("the day is the brand's, not the server's", async (t) => {
  const now = new Date('2026-03-02T02:30:00.000Z')
  t.equal(calendarDay(now, 'America/Sao_Paulo'), '2026-03-01')
  t.equal(calendarDay(now, 'UTC'), '2026-03-02')
})

t.test('words of a name: no case, no accents, nothing between them', async (t) => {
  for (const [typed, words] of [
    ['Ana Souza', ['ana', 'souza']],
    ["  JOÃO  D'Ávila-Conceição ", ['joao', 'd', 'avila', 'conceicao']],
    ['jose\u0301', ['jose']],
    ['Łukasz Ørsted', ['lukasz', 'orsted']],
    ["x':* | !y & (z)", ['x', 'y', 'z']],
    ['Мария 2', ['мария', '2']],
    ['--', []],
  ] as const)
    t.same(nameWords(typed), words, typed)
  t.equal(nameWords('a '.repeat(100)).length, 12)
})

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
  openRounds: 0,
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
  t.strictSame(anonymise(player, { ...nothing, posted: 1n }, { now: closedAt, ...given }), { player, change: null })
})

const cases: readonly (readonly [string, Partial<PlayerRecord>, Partial<Obligations>, Date])[] = [
  ['status', { status: 'ativo' }, {}, over],
  ['money', {}, { posted: 1n }, over],
  ['money', {}, { held: 1n }, over],
  ['deposits', {}, { openDeposits: 1 }, over],
  ['withdrawals', {}, { openWithdrawals: 1 }, over],
  ['rounds', {}, { openRounds: 1 }, over],
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

const now = new Date('2026-03-02T12:00:00.000Z')
const earlier = new Date('2026-03-01T12:00:00.000Z')
const decided = { kycVersion: 3, kycDecidedAt: earlier, kycReason: 'unreadable', kycExpiresAt: null }

t.test('a submission leads to em_analise from every status but aprovado, and raises the version', async (t) => {
  for (const kycStatus of kycStatuses) {
    const player = { ...decided, kycStatus }
    if (kycStatus === 'aprovado') t.throws(() => submit(player), { code: 'KYC_ALREADY_APPROVED' })
    else if (kycStatus === 'em_analise')
      t.strictSame(submit(player), { player, change: null }, 'it is under analysis already')
    else
      t.strictSame(
        submit(player),
        {
          player: { ...player, kycStatus: 'em_analise', kycVersion: 4 },
          change: { field: 'kycStatus', previous: kycStatus, next: 'em_analise' },
        },
        kycStatus,
      )
  }
})

t.test(
  'every decision leads to its status from any other, with a version that rises; the same one changes nothing',
  async (t) => {
    for (const kycStatus of kycStatuses) {
      for (const status of kycDecisions) {
        const player = { ...decided, kycStatus }
        t.strictSame(
          decide(player, { status, reason: null, termMs: null }, now),
          kycStatus === status
            ? { player, change: null }
            : {
                player: { kycStatus: status, kycVersion: 4, kycDecidedAt: now, kycReason: null, kycExpiresAt: null },
                change: { field: 'kycStatus', previous: kycStatus, next: status },
              },
          `${kycStatus} → ${status}`,
        )
      }
    }
  },
)

t.test('only an approval has a term, and from its end on it is expirado', async (t) => {
  const player = { ...decided, kycStatus: 'em_analise' } as const
  const termMs = 86_400_000
  for (const status of kycDecisions) {
    const { player: after } = decide(player, { status, reason: null, termMs }, now)
    t.same(after.kycExpiresAt, status === 'aprovado' ? new Date('2026-03-03T12:00:00.000Z') : null, status)
    t.equal(kycAt(after, new Date('2026-03-03T11:59:59.999Z')), after)
    const ended = kycAt(after, new Date('2026-03-03T12:00:00.000Z'))
    if (status !== 'aprovado') t.equal(ended, after)
    else
      t.same(ended, {
        ...{ kycStatus: 'expirado', kycVersion: after.kycVersion + 1, kycDecidedAt: now },
        ...{ kycReason: 'the approval has ended', kycExpiresAt: null },
      })
  }
})

const hours = (count: number) => new Date(now.getTime() + count * 3_600_000)
const none = { status: 'ativo', selfExcludedFrom: null, selfExcludedUntil: null } as const

t.test('an exclusion runs from its begin to its end, or for good', async (t) => {
  t.notOk(isSelfExcluded(none, now))
  t.ok(isSelfExcluded({ ...none, selfExcludedFrom: hours(-1) }, now), 'for good')
  t.ok(isSelfExcluded({ ...none, selfExcludedFrom: hours(-1), selfExcludedUntil: hours(1) }, now))
  t.notOk(isSelfExcluded({ ...none, selfExcludedFrom: hours(-2), selfExcludedUntil: now }, now), 'its end is over')
  t.ok(isSelfExcluded({ ...none, selfExcludedFrom: hours(1) }, now), 'by a clock that has gone back')
  for (const status of playerStatuses)
    t.equal(isSelfExcluded({ ...none, status }, now), status === 'autoexcluido', status)
})

t.test(
  'an exclusion that runs is made longer, never shorter, and keeps its begin; one that has ended begins anew',
  async (t) => {
    const running = { ...none, selfExcludedFrom: hours(-1), selfExcludedUntil: hours(10) }
    const iso = (count: number) => hours(count).toISOString()
    const cases = [
      [none, hours(5), hours(0), null, iso(5)],
      [none, null, hours(0), null, 'for good'],
      [running, hours(11), hours(-1), iso(10), iso(11)],
      [{ ...running, selfExcludedUntil: now }, hours(11), hours(0), iso(0), iso(11)],
      [running, hours(10), hours(-1), iso(10), iso(10)],
      [running, null, hours(-1), iso(10), 'for good'],
      [{ ...running, selfExcludedUntil: hours(-0.5) }, hours(1), hours(0), iso(-0.5), iso(1)],
      [{ ...running, selfExcludedUntil: null }, null, hours(-1), 'for good', 'for good'],
    ] as const
    for (const [player, until, from, previous, next] of cases) {
      t.strictSame(selfExclude(player, until, now), {
        player: { ...none, selfExcludedFrom: from, selfExcludedUntil: until },
        change: { field: 'selfExclusion', previous, next },
      })
    }
    const refused = [
      [running, hours(9)],
      [{ ...running, selfExcludedUntil: null }, hours(1_000)],
      [none, hours(-1)],
    ] as const
    for (const [player, until] of refused)
      t.throws(() => selfExclude(player, until, now), { code: 'VALIDATION_ERROR' }, 'shorter, or in the past')
  },
)

const unlimited = { dailyDepositLimit: null, pendingLimit: null, pendingLimitFrom: null }
const after = (...change: Parameters<typeof setLimit>) => setLimit(...change).player

t.test('a first or lower limit holds at once; a higher one, or none, after 24 hours', async (t) => {
  const first = after(unlimited, 100n, now)
  t.equal(limitNow(first, now), 100n)
  const lower = after(first, 50n, now)
  t.equal(limitNow(lower, now), 50n)
  const raised = after(lower, 80n, now)
  t.equal(limitNow(raised, now), 50n)
  t.equal(limitNow(raised, hours(23.99)), 50n)
  t.equal(limitNow(raised, hours(24)), 80n)
  const removed = after(lower, null, now)
  t.equal(limitNow(removed, hours(23.99)), 50n)
  t.equal(limitNow(removed, hours(24)), null)
  t.equal(limitNow(after(raised, 40n, hours(1)), hours(30)), 40n, 'a lower wish replaces the raise that waits')
  t.equal(
    limitNow(after(raised, 90n, hours(25)), hours(25)),
    80n,
    'a raise that holds by now stays while the next one waits',
  )
})

t.test('a raise says from when it holds', (t) => {
  const holds = (previous: string | null, next: string | null) =>
    limitHoldsFrom({ field: 'dailyDepositLimit', previous, next }, now)?.toISOString()
  t.equal(holds('90.00', '300.00'), hours(24).toISOString(), 'amounts are no texts')
  t.equal(holds('90.00', null), hours(24).toISOString())
  for (const [previous, next] of [
    [null, '1.00'],
    ['300.00', '90.00'],
    ['90.00', '90.00'],
  ] as const)
    t.equal(holds(previous, next), undefined)
  t.equal(limitHoldsFrom({ field: 'status', previous: 'ativo', next: null }, now), undefined)
  t.end()
})

t.test('no sequence of wishes loosens a limit within 24 hours', async (t) => {
  const wish = fc.oneof(fc.constant(null), fc.bigInt({ min: 1n, max: 1_000n }))
  fc.assert(
    fc.property(
      fc.array(fc.record({ wish, afterHours: fc.double({ min: 0, max: 3, noNaN: true }) }), { maxLength: 7 }),
      (wishes) => {
        let limit: Parameters<typeof setLimit>[0] = after(unlimited, 500n, now)
        let at = 0
        for (const { wish: wished, afterHours } of wishes) {
          const before = limitNow(limit, hours(at))
          at += afterHours
          limit = after(limit, wished, hours(at))
          const holds = limitNow(limit, hours(at))
          t.ok(holds !== null && before !== null && holds <= before)
        }
      },
    ),
  )
})
