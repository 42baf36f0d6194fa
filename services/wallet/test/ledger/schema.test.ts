import { type LedgerType, ledgerTypes, operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { systemAccountKinds } from '../../src/ledger/posting.ts'
import { houseKinds } from '../../src/rounds/play.ts'
import { wallet } from '../../src/service.ts'

const bed = await testBed(t, { wallet })
const admin = bed.sql('admin')
const role = bed.sql('wallet')

const isHouse = (kind: string) => houseKinds.some((house) => house === kind)

// A CHECK that does not know a value would fail every batch that has it, and each of its commands would be retried for
// ever.
t.test('the schema takes system accounts of every kind', async () => {
  for (const kind of systemAccountKinds) await open('brd_schema', kind)
})

/** Opens an account and returns its id. */
async function open(brandId: string, kind: string, currency = 'BRL'): Promise<string> {
  const { rows } = await admin.query(
    `insert into wallet.account (brand_id, owner_id, kind, currency, party, genesis, head, created_at, updated_at)
       values ($1, $2, $3, $4, $5, '', '', now(), now()) returning id`,
    [brandId, kind === 'player' ? newId('ply') : null, kind, currency, isHouse(kind) ? 'prv_1' : ''],
  )
  return rows[0].id
}

function enter(
  type: string,
  brandId: string,
  [debit, credit]: readonly [string, string],
  { outcome = 'posted', reverses = newId('trf') } = {},
) {
  const id = newId('trf')
  return admin.query(
    `insert into wallet.transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, reverses,
       effective_at, created_at) values ($1, $2, $1, $3, $4, $5, 1, $6, $7, now(), now()) returning id`,
    [id, brandId, type, debit, credit, outcome, ['REVERSAL', 'ROLLBACK'].includes(type) ? reverses : null],
  )
}

t.test('the schema takes transfers of every type, between accounts that belong together alone', async (t) => {
  const brandId = newId('brd')
  const [player, other] = [await open(brandId, 'player'), await open(brandId, 'player')]
  const [deposits, withdrawals, adjustments] = [
    await open(brandId, 'deposits'),
    await open(brandId, 'withdrawals'),
    await open(brandId, 'adjustments'),
  ]
  const [play, jackpots, promotions] = [
    await open(brandId, 'play'),
    await open(brandId, 'jackpots'),
    await open(brandId, 'promotions'),
  ]
  const right: Record<LedgerType, readonly [string, string][]> = {
    DEPOSIT: [[deposits, player]],
    WITHDRAWAL: [[player, withdrawals]],
    ADJUSTMENT: [
      [adjustments, player],
      [player, adjustments],
    ],
    REVERSAL: [
      [player, deposits],
      [withdrawals, player],
      [adjustments, player],
      [play, player],
      [player, jackpots],
    ],
    BET: [[player, play]],
    WIN: [[play, player]],
    ROLLBACK: [[play, player]],
    JACKPOT: [[jackpots, player]],
    PROMOTION: [[promotions, player]],
  }
  for (const type of ledgerTypes) for (const sides of right[type]) await enter(type, brandId, sides)
  const refused = { message: /do not belong to a/ }
  for (const type of ledgerTypes)
    await t.rejects(enter(type, brandId, [other, player]), refused, `${type} of two players`)
  await t.rejects(enter('DEPOSIT', brandId, [adjustments, player]), refused)
  await t.rejects(enter('DEPOSIT', brandId, [player, deposits]), refused)
  await t.rejects(enter('WITHDRAWAL', brandId, [player, deposits]), refused)
  await t.rejects(enter('ADJUSTMENT', brandId, [deposits, player]), refused)
  for (const type of ['BET', 'WIN', 'ROLLBACK', 'JACKPOT', 'PROMOTION'] as const)
    for (const account of [deposits, withdrawals, adjustments, play, jackpots, promotions])
      for (const [debit, credit] of [
        [account, player],
        [player, account],
      ] as const)
        if (!right[type].some(([from, to]) => from === debit && to === credit))
          await t.rejects(enter(type, brandId, [debit, credit]), refused, `${type} of another account or the other way`)
  await t.rejects(enter('DEPOSIT', brandId, ['0', player]), refused, 'no account')
  await t.rejects(enter('DEPOSIT', brandId, [await open(newId('brd'), 'deposits'), player]), refused, "another brand's")
  const dollars: [string, string] = [await open(brandId, 'deposits', 'USD'), player]
  await t.rejects(enter('DEPOSIT', brandId, dollars), refused, 'another currency')
  await enter('DEPOSIT', brandId, dollars, { outcome: 'refused' })
})

t.test('a stake is given back once, by its provider or by the team', async (t) => {
  const brandId = newId('brd')
  const [player, play] = [await open(brandId, 'player'), await open(brandId, 'play')]
  const back = async (type: string, reverses: string) => enter(type, brandId, [play, player], { reverses })
  for (const [first, second] of [
    ['ROLLBACK', 'REVERSAL'],
    ['REVERSAL', 'ROLLBACK'],
    ['ROLLBACK', 'ROLLBACK'],
  ] as const) {
    const { rows } = await enter('BET', brandId, [player, play])
    await back(first, rows[0].id)
    await t.rejects(back(second, rows[0].id), { code: '23505' }, `${second} behind ${first}`)
  }
})

t.test('an account of play is of one provider, and any other of none', async (t) => {
  const insert = (kind: string, party: string) =>
    admin.query(
      `insert into wallet.account (brand_id, kind, currency, party, genesis, head, created_at, updated_at)
       values ($1, $2, 'BRL', $3, '', '', now(), now())`,
      [newId('brd'), kind, party],
    )
  await t.rejects(insert('play', ''), { code: '23514' })
  await t.rejects(insert('deposits', 'prv_1'), { code: '23514' })
})

t.test('a round keeps its identity, and what has ended stays so, but for a bet that the team gives back', async (t) => {
  const brandId = newId('brd')
  const player = await open(brandId, 'player')
  const id = newId('rnd')
  await admin.query(
    `insert into wallet.round (id, provider_id, brand_id, provider_round_id, account_id, game_id, state, opened_at, live_bets)
     values ($1, 'prv_1', $2, 'r', $3, 'reels', 'open', now(), 2)`,
    [id, brandId, player],
  )
  const set = (assignment: string) => admin.query(`update wallet.round set ${assignment} where id = $1`, [id])
  const kept = { message: /a round keeps its identity/ }
  await t.rejects(set("game_id = 'other'"), kept)
  await t.rejects(set("state = 'void', closed_at = now(), closed_by = 'team', closed_seq = 1"), { code: '23514' })
  await set('live_bets = 3')
  await set("state = 'closed', closed_at = now(), closed_by = 'close', closed_seq = 1")
  await t.rejects(set("state = 'open', closed_at = null, closed_by = null, closed_seq = null"), kept)
  await t.rejects(set('live_bets = 4'), kept)
  await set('live_bets = 2')
  await t.rejects(admin.query('delete from wallet.round where id = $1', [id]), { message: /rounds are kept/ })
  await t.rejects(role.query('delete from wallet.round'), { message: /permission denied/ })
  await t.rejects(role.query("update wallet.play set outcome = 'posted'"), { message: /permission denied/ })
})

// By them reconciliation tells when something was entered, whatever the service wrote as its time.
t.test('the service cannot say in which transaction it enters something', async (t) => {
  const refused = { message: /permission denied/ }
  await t.rejects(
    role.query("insert into entry (account_id, transfer_id, amount, xid) values (1, 'trf', 1, '3')"),
    refused,
  )
  await role.query("insert into entry (account_id, transfer_id, amount) values (1, 'trf', 1)")
})

/** The ledger of a brand: a deposit, and a hold that was released. @returns the brand's id */
async function entered(): Promise<string> {
  const { creditAccount, openHold, releaseHold } = operations.wallet
  const scope = bed.scope({ brandId: newId('brd') })
  const [playerId, withdrawalId] = [newId('ply'), newId('wdr')]
  const effectiveAt = '2026-03-02T12:00:00.000Z'
  await bed.rpc.call(creditAccount, {
    scope,
    input: { playerId, depositId: newId('dep'), amount: '10.00', effectiveAt },
  })
  await bed.rpc.call(openHold, { scope, input: { playerId, withdrawalId, amount: '5.00' } })
  await bed.rpc.call(releaseHold, { scope, input: { playerId, withdrawalId } })
  return scope.brandId
}

for (const table of ['transfer', 'entry'])
  t.test(`nobody changes, deletes or truncates a row of ${table}`, async (t) => {
    await entered()
    for (const [statement, byRole] of [
      [`update wallet.${table} set amount = amount + 1`, /permission denied/],
      [`delete from wallet.${table}`, /permission denied/],
      [`truncate wallet.${table}`, /permission denied/],
    ] as const) {
      await t.rejects(role.query(statement), byRole, `${statement} by the service`)
      await t.rejects(admin.query(statement), /append-only/, `${statement} by the superuser`)
    }
  })

t.test('accounts and holds keep their identity and are never deleted', async (t) => {
  const brandId = await entered()
  for (const table of ['account', 'hold']) {
    await t.rejects(role.query(`delete from wallet.${table}`), /permission denied/)
    await t.rejects(admin.query(`delete from wallet.${table}`), /are kept/)
    await t.rejects(admin.query(`truncate wallet.${table}`), /append-only/)
  }
  await t.rejects(
    role.query(`update account set owner_id = 'ply_x' where brand_id = $1`, [brandId]),
    /keeps its identity/,
  )
  await t.rejects(role.query(`update account set seq = 0 where brand_id = $1 and seq > 0`, [brandId]), /its order/)
  await t.rejects(role.query(`update hold set amount = 1 where brand_id = $1`, [brandId]), /keeps its identity/)
  await t.rejects(
    role.query(`update hold set state = 'open', closed_at = null where brand_id = $1`, [brandId]),
    /once closed it stays/,
  )
})

t.test('a balance below what is held is refused by the table itself', async (t) => {
  const brandId = await entered()
  await t.rejects(
    role.query('update account set held = posted + 1 where brand_id = $1 and seq > 0', [brandId]),
    /check constraint/,
  )
  await t.rejects(
    role.query('update account set posted = -1 where brand_id = $1 and seq > 0', [brandId]),
    /check constraint/,
  )
})
