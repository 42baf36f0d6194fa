import assert from 'node:assert/strict'
import { newId } from '@backoffice/process'
import { reconciler } from '@backoffice/reconciler'
import { eventually, holdOpen, testBed } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { runOf } from '../../../reconciler/test/runs/run.ts'
import { takeCheckpoints } from '../../src/background/take-checkpoints.ts'
import { Ledger } from '../../src/ledger/ledger.ts'
import type { Posting } from '../../src/ledger/posting.ts'
import { wallet } from '../../src/service.ts'
import { sumPeriod } from '../../src/statement/records.ts'
import { bet, close, end, rollback, spin, win } from './books.ts'

const bed = await testBed(t, { wallet, reconciler }, { config: { wallet: { DATABASE_POOL_MAX: 8 } } })
const { db } = bed.services.wallet
const ledgers = [1, 2, 3].map(() => new Ledger({ db }))
const admin = bed.sql('admin')
const effectiveAt = new Date('2026-03-02T12:00:00.000Z')

// Postings here have no deposits and withdrawals behind them, so only the ledger itself is looked at.
const ledgerChecks = new Set('balances chains transfers sums reversals holds checkpoints plays rounds'.split(' '))

async function differences(): Promise<unknown[]> {
  return (await runOf(bed)).differences.filter(({ check }) => ledgerChecks.has(check))
}

/** A player has one account, and so one brand. */
const playerOf = (brandId: string, player: number) => `ply_${player}_${brandId}`

function postingOf(seed: readonly [number, number, number, number], brandId: string): Posting {
  const [kind, player, reference, amount] = seed
  const base = { brandId, playerId: playerOf(brandId, player), currency: 'BRL' }
  const transfer = { transferId: newId('trf'), amount: BigInt(amount), effectiveAt }
  switch (kind) {
    case 0:
    case 1:
      return {
        ...base,
        ...transfer,
        kind: 'credit',
        reference: `d${reference}`,
        type: 'DEPOSIT',
        counterparty: 'deposits',
      }
    case 2:
      return {
        ...base,
        ...transfer,
        kind: 'debit',
        reference: `a${reference}`,
        type: 'ADJUSTMENT',
        counterparty: 'adjustments',
      }
    case 3:
      return { ...base, kind: 'hold', reference: `w${reference}`, amount: BigInt(amount) }
    case 4:
      return { ...base, kind: 'capture', reference: `w${reference}`, transferId: newId('trf'), effectiveAt }
    case 5:
      return { ...base, kind: 'release', reference: `w${reference}` }
    default:
      return { ...playOf(kind, `${reference}`, BigInt(amount)), ...base }
  }
}

/** What a provider sends about few bets and rounds. */
function playOf(kind: number, id: string, amount: bigint): Posting {
  const own = { providerRoundId: `r${Number(id) % 5}`, newId }
  const other = `${(Number(id) + 5) % 25}`
  switch (kind) {
    case 6:
    case 7:
      return bet('', id, amount, own)
    case 8:
      return spin('', id, amount, 7n, { ...own, providerRoundId: `s${id}` })
    case 9:
      return win('', id, amount, { ...own, betTransactionId: amount % 2n === 0n ? other : null })
    case 10:
      return rollback('', other, amount % 3n === 0n ? id : other, own)
    default:
      return amount % 4n === 0n ? end('', amount % 8n === 0n ? 'void' : 'closed', own) : close('', own)
  }
}

const seed = fc.tuple(
  fc.integer({ min: 0, max: 11 }),
  fc.integer({ min: 1, max: 4 }),
  fc.integer({ min: 0, max: 25 }),
  fc.integer({ min: 1, max: 30 }),
)

t.test('property: three replicas at once, on shared players and references, keep every invariant', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(seed, { minLength: 60, maxLength: 200 }), async (seeds) => {
      const brandId = newId('brd')
      await Promise.all(
        seeds.map((each, index) => (ledgers[index % ledgers.length] as Ledger).post(postingOf(each, brandId))),
      )
    }),
    { numRuns: 15 },
  )
  t.same(await differences(), [])
})

t.test('a deposit posted by three replicas at once is posted once', async (t) => {
  const brandId = newId('brd')
  for (let round = 0; round < 10; round++) {
    const outcomes = await Promise.all(
      ledgers.flatMap((ledger) => [1, 2].map(() => ledger.post(postingOf([0, 1, round, 5], brandId)))),
    )
    t.equal(outcomes.filter((result) => result.outcome === 'posted' && !result.replayed).length, 1)
  }
})

t.test('postings of a locked account, however many, delay their own account alone', async (t) => {
  const brandId = newId('brd')
  const ledger = new Ledger({ db })
  const credit = (player: number, reference: number) => ledger.post(postingOf([0, player, reference, 1], brandId))
  const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)
  await credit(1, 1)
  const account = 'select from wallet.account where brand_id = $1 and owner_id = $2 for update'
  const { commit } = await holdOpen(admin, account, [brandId, playerOf(brandId, 1)])
  const locked = numbers(12, 10).map((reference) => credit(1, reference))
  await Promise.all(numbers(30, 100).map((reference) => credit(2 + (reference % 10), reference)))
  locked.push(credit(1, 50))
  const later = numbers(5, 200)
  await Promise.all(later.map((reference) => credit(3, reference)))
  const { rows } = await admin.query(
    'select count(distinct xmin::text)::int as batches from wallet.transfer where brand_id = $1 and reference = any($2)',
    [brandId, later.map((reference) => `d${reference}`)],
  )
  t.same(rows, [{ batches: 1 }], 'a later posting of the account does not even hold up its batch')
  await commit()
  t.match(await Promise.all(locked), Array(13).fill({ outcome: 'posted', replayed: false }))
})

t.test('one reference for the holds of two players at once reserves money of the first alone', async (t) => {
  const brandId = newId('brd')
  const ledger = new Ledger({ db })
  for (const player of [1, 2]) await ledger.post(postingOf([0, player, player, 10], brandId))
  // The hold of the first player, as another replica writes it, not committed yet.
  const other = await holdOpen(
    admin,
    `with reserved as (
       update wallet.account set held = 4 where brand_id = $1 and owner_id like 'ply_1_%' returning id
     )
     insert into wallet.hold (brand_id, reference, account_id, amount, state, opened_at)
     select $1, 'w7', id, 4, 'open', now() from reserved`,
    [brandId],
  )
  const second = ledger.post(postingOf([3, 2, 7, 4], brandId))
  await other.isAwaited({ role: 'backoffice_wallet' })
  await other.commit()
  t.match(await second, { outcome: 'conflict' })
  t.same(await differences(), [])
})

t.test('a database that has gone back, as a promoted standby does, is asked anew for every account', async (t) => {
  const brandId = newId('brd')
  const ledger = new Ledger({ db })
  const of = (player: number) => ({ brandId, playerId: playerOf(brandId, player), currency: 'BRL' })
  await ledger.openAccount(of(1))
  await ledger.post(postingOf([0, 1, 1, 10], brandId))
  // It has lost the posting, and with it the brand's account of deposits: its id goes to the next one.
  await admin.query(`
    begin;
    set local session_replication_role = replica;
    delete from wallet.entry using wallet.transfer t where transfer_id = t.id and t.brand_id = '${brandId}';
    delete from wallet.transfer where brand_id = '${brandId}';
    update wallet.account set posted = 0, seq = 0, head = genesis where brand_id = '${brandId}' and kind = 'player';
    select setval(pg_get_serial_sequence('wallet.account', 'id'), max(id), false) from wallet.account;
    delete from wallet.account where brand_id = '${brandId}' and kind = 'deposits';
    commit`)
  await ledger.openAccount(of(2))
  for (const player of [1, 2])
    t.match(await ledger.post(postingOf([0, player, 1 + player, 25], brandId)), { outcome: 'posted' })
  const { rows } = await admin.query(
    `select a.kind, a.owner_id as owner from wallet.transfer t join wallet.account a on a.id in (t.debit_account, t.credit_account)
     where t.brand_id = $1 order by t.reference, a.kind`,
    [brandId],
  )
  const system = { kind: 'deposits', owner: null }
  t.same(rows, [
    system,
    { kind: 'player', owner: playerOf(brandId, 1) },
    system,
    { kind: 'player', owner: playerOf(brandId, 2) },
  ])
})

t.test('a posting that the database refuses is an error of its sender, not of those in its batch', async (t) => {
  const brandId = newId('brd')
  const ledger = new Ledger({ db })
  // No text of PostgreSQL holds this character.
  const poison = { ...postingOf([0, 1, 1, 1], brandId), reference: 'd\u0000' } as Posting
  const outcomes = await Promise.allSettled(
    [poison, ...Array.from({ length: 20 }, (_, index) => postingOf([0, 1, index, 1], brandId))].map((posting) =>
      ledger.post(posting),
    ),
  )
  t.match(outcomes[0], { status: 'rejected', reason: { code: '22021' } })
  t.ok(outcomes.slice(1).every((result) => result.status === 'fulfilled' && result.value.outcome === 'posted'))
})

t.test('what a posting brings along commits with it or not at all, and apart from its neighbours', async (t) => {
  const brandId = newId('brd')
  const ledger = new Ledger({ db })
  const seen: string[] = []
  const outcomes = await Promise.allSettled(
    [1, 2, 3].map((reference) =>
      ledger.post(postingOf([0, 1, reference, 1], brandId), async (_tx, { outcome }) => {
        assert.notEqual(reference, 2)
        seen.push(`${reference} ${outcome}`)
      }),
    ),
  )
  t.same(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  t.ok(seen.includes('1 posted') && seen.includes('3 posted'))
  const { rows } = await admin.query('select reference from wallet.transfer where brand_id = $1 order by 1', [brandId])
  t.same(
    rows.map(({ reference }) => reference),
    ['d1', 'd3'],
  )
})

/** The balance of a brand's system account: its checkpoint, and what was entered since. */
async function readSystemBalance(brandId: string): Promise<bigint> {
  const rows = await db<{ balance: string }>`
    select (coalesce(p.balance, 0) + coalesce((
      select sum(e.amount) from entry e
      where e.account_id = a.id and e.seq is null and e.xid >= coalesce(p.below, '0'::xid8)
    ), 0))::text as balance
    from account a left join system_checkpoint p on p.account_id = a.id
    where a.brand_id = ${brandId} and a.kind = 'deposits' and a.owner_id is null
  `
  return BigInt(rows[0]?.balance ?? 0)
}

/**
 * Waits until every transaction that began before the last posting has ended. Transactions of all databases on the server
 * count, those of other tests too.
 */
const horizonIsPast = (brandId: string) =>
  eventually(async () => {
    const { rows } = await admin.query(
      `select max(e.xid) < pg_snapshot_xmin(pg_current_snapshot()) as past
       from wallet.entry e join wallet.account a on a.id = e.account_id where a.brand_id = $1`,
      [brandId],
    )
    return rows[0].past === true
  })

t.test('a checkpoint never counts what a running transaction may still add to', async (t) => {
  const brandId = newId('brd')
  const ledger = ledgers[0] as Ledger
  await ledger.post(postingOf([0, 1, 1, 10], brandId))
  await horizonIsPast(brandId)
  // An older transaction that is still running holds the horizon.
  const older = await holdOpen(admin, 'select pg_current_xact_id()')
  await ledger.post(postingOf([0, 1, 2, 20], brandId))
  await takeCheckpoints(db, new Date())
  const read = async () =>
    (
      await admin.query(
        'select p.balance from wallet.system_checkpoint p join wallet.account a on a.id = p.account_id where a.brand_id = $1',
        [brandId],
      )
    ).rows.map(({ balance }) => balance)
  t.same(await read(), ['-10'])
  t.equal(await readSystemBalance(brandId), -30n)
  await older.commit()
  await horizonIsPast(brandId)
  await takeCheckpoints(db, new Date())
  t.same(await read(), ['-30'])
  await ledger.post(postingOf([0, 1, 3, 5], brandId))
  t.equal(await readSystemBalance(brandId), -35n)
  t.same(await differences(), [])
})

t.test('a brand whose sums are larger than any balance holds up no checkpoint and no statement', async (t) => {
  const [rich, plain] = [newId('brd'), newId('brd')]
  const ledger = ledgers[0] as Ledger
  const large = { amount: 2n ** 62n }
  for (const player of [1, 2, 3]) await ledger.post({ ...postingOf([0, player, player, 1], rich), ...large } as Posting)
  await ledger.post(postingOf([0, 1, 1, 10], plain))
  await horizonIsPast(plain)
  await takeCheckpoints(db, new Date())
  t.equal(await readSystemBalance(plain), -10n)
  const { rows } = await admin.query(
    `select a.brand_id, p.balance::text from wallet.system_checkpoint p join wallet.account a on a.id = p.account_id
    where a.brand_id = any($1) order by p.balance`,
    [[rich, plain]],
  )
  t.same(rows, [
    { brand_id: rich, balance: String(-3n * large.amount) },
    { brand_id: plain, balance: '-10' },
  ])
  const period = { brandId: rich, from: new Date(0), to: new Date('2099-01-01T00:00:00.000Z') }
  const sum = 3n * large.amount
  t.match(await sumPeriod(db.reader, period), [
    { currency: 'BRL', posted: sum, sinceFrom: sum, sinceTo: 0n, byType: [{ type: 'DEPOSIT', amount: sum }] },
  ])
  t.same(await differences(), [])
})
