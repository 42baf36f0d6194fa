import assert from 'node:assert/strict'
import { operations, type PlayerStatus, type Reply } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { hourMs, newId } from '@backoffice/process'
import { byTwo, keptMessages, newCpf, newPlayer, proposalOf, refusal, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import fc from 'fast-check'
import t from 'tap'
import { sweepStatuses } from '../../src/players/tell-status.ts'
import { players } from '../../src/service.ts'

const { registerPlayer, getPlayerStanding, openGameSession, findPlayers, listPlayers, searchPlayers, showPlayer } =
  operations.players
const { selfExcludePlayer, setPlayerStatus, setDailyLimit, decideKyc, anonymisePlayer } = operations.players
const { createDeposit } = operations.payments

const time = new TestTime(new Date('2026-03-02T12:00:00.000Z'))
/** Swept by the tests themselves. */
const config = { players: { STATUS_SWEEP_EVERY_MS: hourMs } }
const bed = await testBed(t, { players, wallet, payments }, { time, config })
const alice = bed.team('alice')
const reason = 'a random test'

const pass = (ms: number) => time.set(new Date(time.now().getTime() + ms))
/** What is not told at once is told within a minute. */
async function sweep(): Promise<void> {
  await pass(30_000)
  while (await sweepStatuses(bed.services.players)) {}
}
/** What the operator was told of a player by events of a kind, in order of their versions. */
const toldOf = async (playerId: string, kind: 'player.status_changed' | 'player.limit_changed') =>
  (await keptMessages(bed.sql('admin'), 'players'))
    .map(({ message }) => message.event)
    .filter(({ type, data }) => type === kind && data.playerId === playerId)
    .map(({ data }) => data)
    .toSorted((a, b) => a.version - b.version)
const changesOf = async (playerId: string) =>
  (await toldOf(playerId, 'player.status_changed')).map(
    ({ previousStatus, status, source }) => `${previousStatus} → ${status} (${source})`,
  )

interface Account {
  readonly id: string
  status: PlayerStatus
  /** Null: it was never excluded. */
  excludedUntil: number | null
  isAnonymised: boolean
}

/** What a brand's compliance would write down: by person, who has which accounts. */
class Persons {
  readonly scope = bed.scope({ brandId: newId('brd') })
  readonly byPerson = [0, 1].map(() => ({ cpf: newCpf(), accounts: [] as Account[] }))

  runs({ status, excludedUntil }: Account): boolean {
    return status === 'autoexcluido' || (excludedUntil !== null && time.now().getTime() < excludedUntil)
  }

  isExcluded(account: Account): boolean {
    // Nobody knows whose it was, so what runs by itself is all that holds.
    if (account.isAnonymised) return this.runs(account)
    const person = this.byPerson.find(({ accounts }) => accounts.includes(account))
    return person?.accounts.some((one) => !one.isAnonymised && this.runs(one)) === true
  }

  seen = (account: Account): PlayerStatus => (this.isExcluded(account) ? 'autoexcluido' : account.status)
  get accounts(): readonly Account[] {
    return this.byPerson.flatMap(({ accounts }) => accounts)
  }
}

interface Step {
  readonly take: (model: Persons) => Promise<void>
  /** For the report of a failure. */
  readonly toString: () => string
}
const step = (name: string, drawn: unknown, take: Step['take']): Step => ({
  take,
  toString: () => `${name} ${JSON.stringify(drawn)}`,
})
const any = fc.nat({ max: 1_000 })

/** A step with one of the accounts, if there is any. */
const withAccount = <Drawn>(
  name: string,
  drawn: fc.Arbitrary<Drawn>,
  run: (model: Persons, account: Account, drawn: Drawn) => Promise<void>,
): fc.Arbitrary<Step> =>
  fc.tuple(any, drawn).map(([which, values]) =>
    step(name, [which, values], async (model) => {
      const account = model.accounts[which % Math.max(model.accounts.length, 1)]
      if (account !== undefined) await run(model, account, values)
    }),
  )

const statuses = fc.constantFrom<PlayerStatus>('ativo', 'ativo', 'suspenso', 'encerrado', 'encerrado', 'autoexcluido')
const steps = fc.oneof(
  fc.nat({ max: 1 }).map((person) =>
    step('register', person, async ({ scope, byPerson }) => {
      const { cpf, accounts } = byPerson[person] ?? assert.fail()
      const { id, status } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer({ cpf }) })
      assert.equal(status, 'ativo', 'whoever registers')
      accounts.push({ id, status, excludedUntil: null, isAnonymised: false })
      await alice.call(decideKyc, { input: { playerId: id, submission: null, status: 'aprovado', reason } })
    }),
  ),
  withAccount('exclude', fc.option(fc.integer({ min: 1, max: 30 }), { freq: 6 }), async (_model, account, hours) => {
    const until = hours === null ? null : time.now().getTime() + hours * hourMs
    const input = { playerId: account.id, until: until === null ? null : new Date(until).toISOString() }
    const outcome = await refusal(alice.call(selfExcludePlayer, { input }))
    if (outcome === null) account.excludedUntil = until ?? Number.POSITIVE_INFINITY
    else
      assert.ok(outcome === 'VALIDATION_ERROR' && (account.excludedUntil ?? 0) > (until ?? Infinity), 'it is shorter')
  }),
  withAccount('set status', statuses, async (_model, account, status) => {
    const input = { playerId: account.id, status, reason }
    const outcome = await refusal(alice.call(setPlayerStatus, { input }))
    if (outcome === null) account.status = status
    else assert.ok(outcome === 'VALIDATION_ERROR' && account.isAnonymised, 'nobody reopens what is nobody’s')
  }),
  withAccount('anonymise', fc.constant(null), async (model, account) => {
    const outcome = await refusal(alice.call(anonymisePlayer, { input: { playerId: account.id, reason } }))
    const isNeeded = account.status !== 'encerrado' || model.isExcluded(account)
    assert.equal(outcome, isNeeded && !account.isAnonymised ? 'PLAYER_DATA_NEEDED' : null)
    account.isAnonymised ||= outcome === null
  }),
  fc
    .integer({ min: 1, max: 20 })
    .map((hours) => step('wait', hours, () => time.set(new Date(time.now().getTime() + hours * hourMs)))),
)

/** The filter of a list finds what is shown. */
async function judgeLists({ scope, accounts, seen }: Persons): Promise<void> {
  for (const status of ['ativo', 'autoexcluido', 'suspenso', 'encerrado'] as const) {
    const { data } = await alice.call(listPlayers, { input: { brandId: scope.brandId, status, limit: 100 } })
    const expected = accounts.filter((account) => seen(account) === status).map(({ id }) => id)
    assert.deepEqual(data.map(({ id }) => id).sort(), expected.sort(), status)
    for (const player of data) assert.equal(player.status, status)
  }
}

/** Each account pays in and plays as its person may. */
async function judge(model: Persons): Promise<void> {
  const { scope, accounts } = model
  await Promise.all(
    accounts.map(async (account) => {
      const { id: playerId } = account
      const seen = model.seen(account)
      assert.equal((await bed.rpc.call(getPlayerStanding, { scope, input: { playerId } })).status, seen)
      const code = seen === 'ativo' ? null : seen === 'autoexcluido' ? 'RG_BLOCKED' : 'PLAYER_NOT_ACTIVE'
      const play = bed.rpc.call(openGameSession, { scope, input: { playerId, gameId: 'fortune-reels' } })
      assert.equal(await refusal(play), code)
      // One that is let through would be in the way of anonymising.
      if (code === null) return
      const money = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: newId('dep') }
      assert.equal(await refusal(bed.rpc.call(createDeposit, { scope, input: { playerId, ...money } })), code)
    }),
  )
}

/** What everybody reads of a player as its status. */
async function statusesOf(
  scope: ReturnType<typeof bed.scope>,
  { id: playerId, externalId }: Reply<typeof registerPlayer>,
) {
  const [found] = (await bed.rpc.call(findPlayers, { scope, input: { externalId: externalId ?? '' } })).data
  const listed = await alice.call(listPlayers, { input: { brandId: scope.brandId, limit: 100 } })
  const [searched] = (await alice.call(searchPlayers, { input: { playerId, limit: 1 } })).data
  const standing = await bed.rpc.call(getPlayerStanding, { scope, input: { playerId } })
  const shown = await alice.call(showPlayer, { input: { playerId } })
  const inList = listed.data.find(({ id }) => id === playerId)
  return [...new Set([found, inList, searched, standing, shown].map((one) => one?.status))]
}

t.test('an exclusion by status is of the person, too, and keeps their data', async (t) => {
  const scope = bed.scope({ brandId: newId('brd') })
  const input = { cpf: newCpf() }
  const { id: excluded } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer(input) })
  const player = await bed.rpc.call(registerPlayer, { scope, input: newPlayer(input) })
  const { id: playerId } = player
  t.same(await statusesOf(scope, player), ['ativo'])
  await alice.call(setPlayerStatus, { input: { playerId: excluded, status: 'autoexcluido', reason } })
  t.same(await statusesOf(scope, player), ['autoexcluido'])
  t.match(await alice.call(showPlayer, { input: { playerId } }), { statusSet: 'ativo', excludedBy: excluded })
  const elsewhere = bed.scope({ brandId: newId('brd') })
  const { id } = await bed.rpc.call(registerPlayer, { scope: elsewhere, input: newPlayer(input) })
  t.match(await alice.call(showPlayer, { input: { playerId: id } }), { status: 'ativo' }, 'in another brand')
  await alice.call(setPlayerStatus, { input: { playerId, status: 'encerrado', reason } })
  t.equal(await refusal(alice.call(anonymisePlayer, { input: { playerId, reason } })), 'PLAYER_DATA_NEEDED')
})

t.test('no sequence of registering, excluding, closing, anonymising and waiting finds a way around', async (t) => {
  let judged = 0
  const property = fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 25, size: 'max' }), async (taken) => {
    const model = new Persons()
    for (const { take } of taken) {
      await take(model)
      await judge(model)
      judged += model.accounts.filter((account) => model.seen(account) === 'autoexcluido').length
    }
    await sweep()
    await judgeLists(model)
    for (const account of model.accounts) {
      const told = (await toldOf(account.id, 'player.status_changed')).map((data) => [data.previousStatus, data.status])
      const before = ['ativo', ...told.map(([, status]) => status)]
      // An anonymised one is of nobody: what a person's exclusion would change of it is not seen.
      assert.deepEqual(
        told,
        told.map(([, status], index) => [before[index], status]),
        'each begins where the last ended',
      )
      assert.ok(told.every(([previous, status]) => previous !== status))
      assert.equal(before.at(-1), model.seen(account), 'what was told last is what is seen')
    }
  })
  await fc.assert(property, { numRuns: 8, interruptAfterTimeLimit: 60_000 })
  t.ok(judged > 0, `an exclusion was met ${judged} times`)
})

t.test(
  'each change of a status is told once: by the team, through another account of the person, and by time',
  async (t) => {
    const other = await bed.start('players')
    t.teardown(() => other.drain())
    const scope = bed.scope({ brandId: newId('brd') })
    const input = { cpf: newCpf() }
    const register = async () => (await bed.rpc.call(registerPlayer, { scope, input: newPlayer(input) })).id
    const [playerId, second] = [await register(), await register()]
    await alice.call(setPlayerStatus, { input: { playerId: second, status: 'restrito', reason } })
    t.same(await changesOf(second), ['ativo → restrito (team)'])
    await alice.call(setPlayerStatus, { input: { playerId: second, status: 'restrito', reason } })
    const until = new Date(time.now().getTime() + hourMs)
    await alice.call(selfExcludePlayer, { input: { playerId, until: until.toISOString(), reason } })
    const begun = time.now().toISOString()
    t.match(await toldOf(playerId, 'player.status_changed'), [
      { previousStatus: 'ativo', status: 'autoexcluido', changedAt: begun, source: 'team', version: 2 },
    ])
    t.same(await changesOf(second), ['ativo → restrito (team)'], 'of the others soon')
    const third = await register()
    await sweep()
    await alice.call(setPlayerStatus, { input: { playerId: second, status: 'suspenso', reason } })
    await sweep()
    await time.set(until)
    await Promise.all([bed.services.players, other, bed.services.players].map(sweepStatuses))
    await sweep()
    t.same(await changesOf(playerId), ['ativo → autoexcluido (team)', 'autoexcluido → ativo (expiry)'])
    t.same(await changesOf(second), [
      'ativo → restrito (team)',
      'restrito → autoexcluido (team)',
      'autoexcluido → suspenso (expiry)',
    ])
    t.same(await changesOf(third), ['ativo → autoexcluido (operator)', 'autoexcluido → ativo (expiry)'])
    const of = async (id: string) => (await toldOf(id, 'player.status_changed')).map(({ changedAt }) => changedAt)
    t.equal((await of(second))[1], begun)
    for (const id of [playerId, second, third]) t.equal((await of(id)).at(-1), until.toISOString())
  },
)

t.test('an exclusion that ends right after an edit is told as what has ended, when it did', async (t) => {
  const scope = bed.scope({ brandId: newId('brd') })
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  const until = new Date(time.now().getTime() + hourMs)
  await alice.call(selfExcludePlayer, { input: { playerId, until: until.toISOString(), reason } })
  await sweep()
  await time.set(new Date(until.getTime() - 10_000))
  await alice.call(setPlayerStatus, { input: { playerId, status: 'restrito', reason } })
  await sweep()
  t.same(await changesOf(playerId), ['ativo → autoexcluido (team)', 'autoexcluido → restrito (expiry)'])
  t.equal((await toldOf(playerId, 'player.status_changed')).at(-1)?.changedAt, until.toISOString())
})

for (const source of ['expiry', 'team'] as const)
  t.test(
    `the end of an exclusion (${source}) is told to the others of a person whose player is anonymised at once`,
    async (t) => {
      const scope = bed.scope({ brandId: newId('brd') })
      const input = { cpf: newCpf() }
      const register = async () => (await bed.rpc.call(registerPlayer, { scope, input: newPlayer(input) })).id
      const [playerId, ...others] = [await register(), await register(), await register()]
      const set = (status: PlayerStatus) => alice.call(setPlayerStatus, { input: { playerId, status, reason } })
      const until = new Date(time.now().getTime() + hourMs)
      if (source === 'team') await set('autoexcluido')
      else await alice.call(selfExcludePlayer, { input: { playerId, until: until.toISOString(), reason } })
      await sweep()
      if (source === 'expiry') await set('encerrado')
      await sweep()
      await time.set(until)
      if (source === 'team') await set('encerrado')
      await alice.call(anonymisePlayer, { input: { playerId, reason } })
      await sweep()
      await sweep()
      const told = ['ativo → autoexcluido (team)', `autoexcluido → ativo (${source})`]
      for (const id of others) t.same(await changesOf(id), told)
      t.same(await changesOf(playerId), ['ativo → autoexcluido (team)', `autoexcluido → encerrado (${source})`])
    },
  )

t.test('what another account is told of is the exclusion, whoever registers meanwhile', async (t) => {
  const scope = bed.scope({ brandId: newId('brd') })
  const input = { cpf: newCpf() }
  const register = async () => (await bed.rpc.call(registerPlayer, { scope, input: newPlayer(input) })).id
  const [playerId, second] = [await register(), await register()]
  await alice.call(selfExcludePlayer, { input: { playerId, until: null, reason } })
  const begun = time.now().toISOString()
  await pass(20_000)
  const third = await register()
  while (await sweepStatuses(bed.services.players)) {}
  t.same(await changesOf(third), ['ativo → autoexcluido (operator)'])
  await sweep()
  t.match(await toldOf(second, 'player.status_changed'), [{ status: 'autoexcluido', source: 'team', changedAt: begun }])
})

t.test('what the release before writes is told by this one', async (t) => {
  const scope = bed.scope({ brandId: newId('brd') })
  const { id } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  const admin = bed.sql('admin')
  await admin.query("update players.player set status = 'bloqueado' where id = $1", [id])
  // This connection has not the clock of the test.
  const { rowCount } = await admin.query('update players.told_status set due_at = $2 where player_id = $1', [
    id,
    time.now(),
  ])
  t.equal(rowCount, 1)
  t.same(await changesOf(id), [])
  await sweep()
  t.same(await changesOf(id), ['ativo → bloqueado (team)'])
  await sweep()
  t.equal((await changesOf(id)).length, 1)
})

t.test('each change of a limit is told once, with when it begins to hold', async (t) => {
  const scope = bed.scope()
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  const set = (dailyDepositLimit: string | null) =>
    alice.call(setDailyLimit, { input: { playerId, dailyDepositLimit } })
  await set('200')
  await set('200.00')
  await set('500')
  await set('200')
  await set(null)
  const [at, later] = [time.now(), new Date(time.now().getTime() + 24 * hourMs)].map((one) => one.toISOString())
  const told = await toldOf(playerId, 'player.limit_changed')
  t.same(
    told.map((data) => [data.previousDailyDepositLimit, data.dailyDepositLimit, data.effectiveAt]),
    [
      [null, '200.00', at],
      ['200.00', '500.00', later],
      ['200.00', '200.00', at],
      ['200.00', null, later],
    ],
  )
  t.match(told[0], { playerId, currency: 'BRL', changedAt: at, source: 'team', version: 2 })
  await pass(24 * hourMs)
  await set('100')
  t.match((await toldOf(playerId, 'player.limit_changed')).at(-1), { previousDailyDepositLimit: null, version: 6 })
})

async function excluded(environment: 'sandbox' | 'production') {
  const scope = bed.scope({ environment })
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  // To begin one takes nobody else: it must not wait.
  await alice.call(setPlayerStatus, { input: { playerId, status: 'autoexcluido', reason } })
  const isExcluded = async () =>
    (await bed.rpc.call(getPlayerStanding, { scope, input: { playerId } })).status === 'autoexcluido'
  return { playerId, isExcluded }
}

t.test('in production a self-exclusion is ended by two people, whatever the next status is', async (t) => {
  const { playerId, isExcluded } = await excluded('production')
  for (const status of ['ativo', 'suspenso', 'encerrado'] as const) {
    const input = { playerId, status, reason }
    const { proposalId: approves } = await proposalOf(alice.call(setPlayerStatus, { input }))
    t.equal(await refusal(bed.machine().call(setPlayerStatus, { input, approves })), 'TWO_PEOPLE_REQUIRED', status)
    t.equal(await isExcluded(), true, status)
  }
  t.match(await byTwo(bed, setPlayerStatus, { playerId, status: 'ativo', reason }), { status: 'ativo' })
  t.equal(await isExcluded(), false)
  const ofSandbox = await excluded('sandbox')
  await alice.call(setPlayerStatus, { input: { playerId: ofSandbox.playerId, status: 'ativo', reason } })
  t.equal(await ofSandbox.isExcluded(), false, 'in the sandbox one person is enough')
})

t.test('nobody ends one that has dates, alone or together', async (t) => {
  const { playerId, isExcluded } = await excluded('production')
  await alice.call(selfExcludePlayer, { input: { playerId, until: null, reason } })
  await byTwo(bed, setPlayerStatus, { playerId, status: 'ativo', reason })
  t.match(await alice.call(showPlayer, { input: { playerId } }), { statusSet: 'ativo', selfExclusion: { until: null } })
  const soon = new Date(time.now().getTime() + hourMs).toISOString()
  const shorter = { playerId, until: soon, reason }
  t.equal(await refusal(alice.call(selfExcludePlayer, { input: shorter })), 'VALIDATION_ERROR')
  t.equal(await isExcluded(), true)
})
