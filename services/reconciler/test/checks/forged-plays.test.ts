import { randomBytes } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { dayMs, hourMs, newId } from '@backoffice/process'
import { refusal } from '@backoffice/test-kit'
import t from 'tap'
import { findDays, sumPlay } from '../../../wallet/src/rounds/days.ts'
import { playDigest as walletDigest } from '../../../wallet/src/rounds/play.ts'
import { type Play, playDigest } from '../../src/reconciliation/hash-chain.ts'
import { add, as, Brand, bed, behindItsBack, eachIsNamed, type Forgeries, playAll, provider, run } from './brand.ts'

const { players: play } = operations
/** The id of a round by its provider's. */
const ours = `brand_id = $1 and provider_id = '${provider.id}'`
/** Plays all that there is, and changes one of it as no role may. */
const edit =
  (statement: string, ...values: readonly unknown[]) =>
  async (brand: Brand) => {
    await playAll(brand)
    await behindItsBack(statement, [brand.scope.brandId, ...values])
  }
const editPlay = (kind: string, transactionId: string, change: string) =>
  edit(`update wallet.play set ${change} where ${ours} and kind = '${kind}' and transaction_id = '${transactionId}'`)
const editRound = (round: string, change: string) =>
  edit(`update wallet.round set ${change} where ${ours} and provider_round_id = '${round}'`)
/** Copies a play, under another transaction. */
const copyPlay = (kind: string, transactionId: string, change: object) =>
  edit(
    `insert into wallet.play select (jsonb_populate_record(p, $2::jsonb)).* from wallet.play p
    where ${ours} and kind = '${kind}' and transaction_id = '${transactionId}'`,
    JSON.stringify({ id: newId('pla'), transaction_id: 'copy', ...change }),
  )
const editTransfer = (type: string, change: string) =>
  edit(`update wallet.transfer set ${change} where id = (
    select id from wallet.transfer where brand_id = $1 and type = '${type}' order by id limit 1)`)

const ofPlays: Forgeries = {
  'everything is played: nothing': (brand) => playAll(brand),
  'the wallet credits a win that no provider sent: chains plays': (brand) =>
    brand.post({
      ...{
        kind: 'credit',
        type: 'WIN',
        counterparty: 'play',
        party: provider.id,
        amount: 500n,
        reference: newId('pla'),
      },
    }),
  'a play that moved money is of another amount: chains plays': editPlay('win', 'late', 'amount = 200'),
  'a play that moved money is gone: chains plays rounds': edit(
    `delete from wallet.play where ${ours} and kind = 'bet' and transaction_id = 'open'`,
  ),
  'a win is said to be of another kind: chains plays': editPlay('win', 'late', `win_kind = 'jackpot'`),
  'a play is said to be refused, and moved money: chains plays': editPlay(
    'win',
    'late',
    `outcome = 'refused', refused_with = 'ROUND_VOIDED'`,
  ),
  'the digest of what a provider signed is another one: chains': editPlay('win', 'late', `body_digest = '\\x00'`),
  'where a play stands in its account is another place: chains plays': editPlay('win', 'late', 'seq = seq + 1'),
  'a lost round is said to have won: plays': editPlay('win', 'w2', 'amount = 100'),
  'a refused bet is said to have been taken: admissions plays rounds': editPlay(
    'bet',
    'much',
    `outcome = 'posted', refused_with = null, refused_details = null, session_id = 'ses_none'`,
  ),
  'the transfer of a play is of another provider: chains plays': edit(
    `with house as (
       insert into wallet.account (brand_id, kind, party, currency, genesis, head, created_at, updated_at)
       values ($1, 'jackpots', 'prv_other', 'BRL', '', '', now(), now()) returning id
     ), moved as (
       update wallet.transfer t set debit_account = house.id from house where t.brand_id = $1 and t.type = 'JACKPOT'
       returning t.id, house.id as house
     ) update wallet.entry e set account_id = moved.house from moved where e.transfer_id = moved.id and e.seq is null`,
  ),
  'the transfer of a play is of another time: chains plays': editTransfer(
    'WIN',
    `created_at = created_at - interval '1 day'`,
  ),
  'a play is said to be of another round: chains rounds': editPlay(
    'win',
    'late',
    `round_id = (
    select id from wallet.round where ${ours} and provider_round_id = 'r10')`,
  ),
  'a refused play is said to be of another round: rounds': editPlay('bet', 'after', `provider_round_id = 'r2'`),
  'a lost round is said to be of no round: rounds': editPlay('win', 'w2', 'round_id = null'),
  'a free bet is said to have come behind its win: rounds': editPlay('bet', 'f1', 'seq = 1000'),
  'a win of nothing is said to have come before its bet: rounds': editPlay('win', 'w2', 'seq = 0'),
  'a round is said to have ended before its bet: rounds': editRound('r2', 'closed_seq = 1'),
  'a void round is said to have ended before its bet: rounds': editRound('r6', 'closed_seq = 1'),
  'a round with a stake is said to be void: rounds signatures': editRound(
    'r10',
    `state = 'void', closed_at = now(), closed_by = 'team', closed_seq = 1000, live_bets = 0`,
  ),
  'a round is said to have a bet more than it has: rounds': editRound('r10', 'live_bets = 2'),
  'a round is of a provider who never took a bet in it: rounds': editRound('r10', `provider_id = 'prv_other'`),
  'a round is gone, and its plays are not: rounds': edit(
    `delete from wallet.round where ${ours} and provider_round_id = 'r10'`,
  ),
  'a round has no bet: rounds': edit(
    `insert into wallet.round select (jsonb_populate_record(r, $2::jsonb)).* from wallet.round r
    where ${ours} and provider_round_id = 'r10'`,
    JSON.stringify({ id: newId('rnd'), provider_round_id: 'r12' }),
  ),
  'a free bet is given back twice: rounds': copyPlay('rollback', 'f2', {}),
  'a rollback gives back another amount than the bet’s: plays rounds': copyPlay('rollback', 'f2', { amount: 100 }),
  'a rollback has nothing to give back, and its bet stands: rounds': copyPlay('rollback', 'again', {
    bet_transaction_id: 'open',
  }),
  'a rollback of an unknown bet has left no tombstone: rounds': edit(
    `delete from wallet.play where ${ours} and kind = 'bet' and transaction_id = 'unknown'`,
  ),
  'a rollback reverses another bet than it names: chains reversals rounds': edit(
    `update wallet.transfer set reverses = (select reverses from wallet.transfer where brand_id = $1 and type = 'ROLLBACK' order by id limit 1) || 'x'
     where brand_id = $1 and type = 'ROLLBACK' and reverses = (select max(reverses) from wallet.transfer where brand_id = $1 and type = 'ROLLBACK')`,
  ),
  'a win of nothing names a bet that was refused: rounds': editPlay('win', 'w2', `bet_transaction_id = 'refused'`),
  'a win of nothing names a bet of nobody: rounds': editPlay('win', 'w2', `bet_transaction_id = 'nobody'`),
}

/** A stake that players would have refused: the wallet takes it, as whoever holds its rights may have it do. */
const stakes = (own: (brand: Brand) => Promise<Readonly<Record<string, unknown>>>) => async (brand: Brand) =>
  brand.bet('b1', '2.00', await own(brand))
const inSession = (own: Readonly<Record<string, unknown>>) =>
  stakes(async (brand) => ({ sessionId: await brand.session(own) }))
/** Some time before the last bet of a brand was booked. */
async function before({ scope }: Brand, ms: number): Promise<Date> {
  const { rows } = await bed
    .sql('wallet')
    .query('select max(created_at) as at from play where brand_id = $1', [scope.brandId])
  return new Date(rows[0].at.getTime() - ms)
}
const ago = (ms: number) => new Date(Date.now() - ms)
const later = (ms: number) => new Date(Date.now() + ms).toISOString()

interface Change {
  readonly field: 'status' | 'selfExclusion'
  readonly next: string
  readonly at: Date
}
/** Changes a player as players writes it down. Who signed that, other tests forge. */
async function change(playerId: string, { field, next, at }: Change): Promise<void> {
  const set = field === 'status' ? 'status = $2' : 'self_excluded_from = $3, self_excluded_until = $2'
  const values = field === 'status' ? [next] : [next === 'for good' ? null : next, at]
  await as('players', `update player set ${set} where id = $1`, [playerId, ...values])
  const { rows } = await bed
    .sql('players')
    .query('select next from player_change where player_id = $1 and field = $2 order by id desc limit 1', [
      playerId,
      field,
    ])
  const row = { player_id: playerId, field, previous: rows[0]?.next ?? (field === 'status' ? 'ativo' : null), next, at }
  await add('players', 'player_change', { actor: 'carol', operation_id: newId('opn'), ...row })
}
/** Bets after some changes. In the sandbox nobody signs them. */
const betsAfter =
  (...all: readonly Change[]) =>
  async (brand: Brand) => {
    for (const one of all) await change(brand.playerId, one)
    await brand.bet('b1', '2.00')
  }
const excluded = (at: Date, next = 'for good'): Change => ({ field: 'selfExclusion', next, at })

/** Another account of the same person. */
async function registerAgain({ scope, playerId }: Brand): Promise<string> {
  const person = { name: 'Ana Souza', email: 'ana@example.com', cpf: '529.982.247-25', birthDate: '1990-05-17' }
  const { id } = await bed.rpc.call(play.registerPlayer, {
    scope,
    input: { externalId: `another of ${playerId}`, ...person },
  })
  return id
}

const ofAdmission: Forgeries = {
  'a bet is staked in no session: admissions': stakes(async () => ({ sessionId: 'ses_none' })),
  'a bet is staked in the session of another player: admissions': stakes(async (brand) => ({
    sessionId: await brand.session({ player_id: await brand.register() }),
  })),
  'a bet is staked in the session of another game: admissions': inSession({ game_id: 'star-miner' }),
  'a bet is staked in a session that has ended: admissions': inSession({ expires_at: ago(30_000) }),
  'a bet was under way as its session ended: nothing': async (brand) => {
    const sessionId = await brand.session()
    await brand.bet('b1', '2.00', { sessionId })
    await behindItsBack('update players.game_session set expires_at = $2 where id = $1', [
      sessionId,
      await before(brand, 2_000),
    ])
  },
  'a bet is staked in a session that is opened later: admissions': inSession({ created_at: later(hourMs) }),
  'a bet of production is staked in a demonstration: admissions': inSession({
    mode: 'demo',
    token_sha256: randomBytes(32),
  }),
}

const ofExclusion: Forgeries = {
  'a person who is excluded for good bets: admissions': betsAfter(excluded(ago(hourMs))),
  'a person who is excluded until tomorrow bets: admissions': betsAfter(excluded(ago(hourMs), later(dayMs))),
  'a person bets whose exclusion has ended: nothing': betsAfter(excluded(ago(dayMs), ago(hourMs).toISOString())),
  'a bet was under way as the person was excluded: nothing': async (brand) => {
    await brand.bet('b1', '2.00')
    await change(brand.playerId, excluded(await before(brand, 2_000)))
  },
  'a bet was under way for too long as the person was excluded: admissions': async (brand) => {
    await brand.bet('b1', '2.00')
    await change(brand.playerId, excluded(await before(brand, 4_000)))
  },
  'a person bets who is excluded by status: admissions': betsAfter({
    field: 'status',
    next: 'autoexcluido',
    at: ago(hourMs),
  }),
  'a person bets who was let in again: nothing': betsAfter(
    { field: 'status', next: 'autoexcluido', at: ago(hourMs) },
    { field: 'status', next: 'ativo', at: ago(60_000) },
  ),
  'a person bets who is excluded as another player: admissions': async (brand) => {
    await change(await registerAgain(brand), excluded(ago(hourMs)))
    await brand.bet('b1', '2.00')
  },
}

/** The team sets what one win may be, so long ago. */
async function limitWins({ scope: { brandId } }: Brand, maxWin: string, msAgo = 0): Promise<void> {
  const input = { providerId: provider.id, brandId, maxWin, reason: 'agreed' }
  await bed.agreed(operations.wallet.setWinLimit, { input })
  if (msAgo > 0)
    await behindItsBack(
      `update wallet.audit_entry set at = $3 where operation = 'setWinLimit' and input ->> 'brandId' = $1 and input ->> 'maxWin' = $2`,
      [brandId, maxWin, ago(msAgo)],
    )
}
/** More than a win may be as reconciliation knows it. The wallet of this bed holds none. */
async function winMuch(brand: Brand): Promise<string> {
  await brand.bet('b1', '2.00')
  return brand.win('w1', '200.00')
}

const ofLimits: Forgeries = {
  'a win above the limit is paid, and nobody has released it: signatures': winMuch,
  'a win above the limit is paid once it is released: nothing': async (brand) => {
    await limitWins(brand, '150.00')
    await refusal(winMuch(brand))
    const input = { providerId: provider.id, brandId: brand.scope.brandId, transactionId: 'w1', reason: 'looked at' }
    await bed.agreed(operations.wallet.releaseWin, { input })
    await brand.win('w1', '200.00')
  },
  'a win is paid that a call allows: nothing': async (brand) => {
    await limitWins(brand, '300.00')
    await winMuch(brand)
  },
  'a limit is lowered while a win is paid: nothing': async (brand) => {
    await limitWins(brand, '300.00')
    await winMuch(brand)
    await limitWins(brand, '150.00')
  },
}

t.test('a win is held against the limits that may have held as it was paid', async (t) => {
  const minuteMs = 60_000
  /** When 900.00 and then 150.00 were set, and whether the first of them may have allowed a win of 200.00 now. */
  const cases = [
    { ago: [120, 60], mayHold: false },
    { ago: [120, 5], mayHold: true },
    { ago: [65, 60], mayHold: true },
  ] as const
  const wins = new Map<string, boolean>()
  for (const { ago, mayHold } of cases) {
    const brand = await Brand.funded()
    await limitWins(brand, '900.00', ago[0] * minuteMs)
    wins.set(await winMuch(brand), mayHold)
    await limitWins(brand, '150.00', ago[1] * minuteMs)
  }
  const { differences } = await run()
  // What may have allowed it is itself judged, and was signed at another time.
  for (const [id, mayHold] of wins) {
    const found = differences.filter(({ subject }) => subject === id).map(({ actual }) => actual)
    t.equal(found.length, 1)
    t.match(found[0], mayHold ? /operation opn_/ : /^200\.00 at /)
  }
})

type Line = Readonly<Record<string, unknown>>
/** Closes a day of what was played with the sums that the wallet makes of it, and tells its operator. */
const closesDay =
  ({
    daysLater = 0,
    kept = {},
    told = kept,
  }: {
    readonly daysLater?: number
    readonly kept?: Line
    readonly told?: Line
  } = {}) =>
  async (brand: Brand) => {
    await playAll(brand)
    const { brandId } = brand.scope
    const { db } = bed.services.wallet
    const [first] = await db<{ day: string }>`
      select ((min(p.created_at) at time zone b.time_zone)::date + ${daysLater}::int)::text as day
      from play p join brand b on b.id = p.brand_id where b.id = ${brandId} group by b.time_zone
    `
    const day = first?.day ?? ''
    const [bounds] = await findDays(db, brandId, day, day)
    if (bounds === undefined) throw new Error('no such day')
    const [line] = await sumPlay(db, { brandId, ...bounds })
    const sums = line === undefined ? [] : [{ ...line, ...kept }]
    await add('wallet', 'play_day', { brand_id: brandId, day, sums, closed_at: new Date() })
    const data = { day, providers: sums.map((one) => ({ ...one, ...told })), version: 1 }
    const event = { type: 'play.day_closed', brandId, environment: 'production', data }
    await add('wallet', 'published_event', { published_at: new Date(), id: newId('evt'), message: { event } })
  }

const ofDays: Forgeries = {
  'a day is closed as it was: nothing': closesDay(),
  'a day is closed with a higher sum: playDays': closesDay({ kept: { jackpots: '51.00' } }),
  'a day is closed with another number of rounds: playDays': closesDay({ kept: { rounds: 1 } }),
  'an operator is told of another sum of a day: playDays': closesDay({ told: { ggr: '0.00' } }),
  'a day is closed before the one before it: playDays': closesDay({ daysLater: 1 }),
}

t.test('what is forged of plays is named, each by its check, and nothing else is', (t) =>
  eachIsNamed(t, { ...ofPlays, ...ofAdmission, ...ofLimits, ...ofDays }),
)

t.test('a bet of somebody who was self-excluded is named', (t) => eachIsNamed(t, ofExclusion, 'sandbox'))

t.test('both copies of the digest of a play agree, over every column', async (t) => {
  const brand = await Brand.funded()
  await playAll(brand)
  const rows = await bed.services.wallet.db<Play & Parameters<typeof walletDigest>[0]>`
    select * from play where brand_id = ${brand.scope.brandId}
  `
  t.ok(rows.length > 20)
  for (const row of rows) t.equal(playDigest(row), walletDigest(row))
  const digests = new Set<string>()
  const [row] = rows as [(typeof rows)[0]]
  for (const name of Object.keys(row)) {
    const value = row[name as keyof Play]
    const other =
      typeof value === 'boolean'
        ? !value
        : value instanceof Date
          ? new Date(0)
          : Buffer.isBuffer(value)
            ? Buffer.from('x')
            : `${value}x`
    digests.add(playDigest({ ...row, [name]: other }))
  }
  t.equal(digests.size, Object.keys(row).length, 'each column counts')
  t.notOk(digests.has(playDigest(row)))
})
