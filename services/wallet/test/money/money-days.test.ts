import { readFileSync } from 'node:fs'
import { operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, TestTime, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { countMoney } from '../../src/background/count-money.ts'
import { wallet } from '../../src/service.ts'

const time = new TestTime(new Date('2026-06-01T12:00:00.000Z'))
const bed = await testBed(t, { wallet }, { time, config: { wallet: { CHECKPOINT_EVERY_MS: 3_600_000 } } })
const { creditAccount, openAccount, openHold, captureHold, listMoneyDays, listBalanceDays } = operations.wallet
const alice = bed.team('alice')
const admin = bed.sql('admin')

const newBrand = (timeZone: string, environment: 'sandbox' | 'production' = 'sandbox') =>
  bed.scope({ operatorId: newId('op'), brandId: newId('brd'), timeZone, environment })
const newAccount = async (scope: Scope) => {
  const playerId = newId('ply')
  await bed.rpc.call(openAccount, { scope, input: { playerId } })
  return playerId
}
const deposit = (scope: Scope, playerId: string, amount: string) =>
  bed.rpc.call(creditAccount, {
    scope,
    input: { playerId, depositId: newId('dep'), amount, effectiveAt: time.now().toISOString() },
  })
async function withdraw(scope: Scope, playerId: string, amount: string) {
  const withdrawalId = newId('wdr')
  await bed.rpc.call(openHold, { scope, input: { playerId, withdrawalId, amount } })
  const captured = { playerId, withdrawalId, effectiveAt: time.now().toISOString() }
  await bed.rpc.call(captureHold, { scope, input: captured })
}
const shownOf = ({ brandId, environment }: Scope) => alice.call(listMoneyDays, { input: { environment, brandId } })
const daysOf = async (scope: Scope) => (await shownOf(scope)).data
/** What runs in another database of the server, and began before, keeps entries from being counted: they wait for it. */
async function count(most?: number) {
  const waiting = 'select from wallet.entry where xid >= pg_snapshot_xmin(pg_current_snapshot())'
  await eventually(async () => (await admin.query(waiting)).rowCount === 0)
  return countMoney(bed.services.wallet.db, most)
}

t.test('each deposit and withdrawal is in the day of its brand once, however many count at once', async (t) => {
  const brand = newBrand('America/Sao_Paulo')
  const playerId = await newAccount(brand)
  await time.set(new Date('2026-06-02T02:59:00.000Z'))
  await deposit(brand, playerId, '100.00')
  await time.set(new Date('2026-06-02T03:00:00.000Z'))
  await deposit(brand, playerId, '30.00')
  await deposit(brand, playerId, '0.50')
  await withdraw(brand, playerId, '40.00')
  t.same(await daysOf(brand), [], 'nobody has counted yet')
  // An account is named before it is counted.
  await count()
  await Promise.all([count(), count(), count(), count()])
  const none = { withdrawals: 0, withdrawn: '0.00' }
  const first = { day: '2026-06-01', currency: 'BRL', deposits: 1, deposited: '100.00', ...none }
  const second = { ...first, day: '2026-06-02', deposits: 2, deposited: '30.50', withdrawals: 1, withdrawn: '40.00' }
  t.same(await daysOf(brand), [first, second])
  await deposit(brand, playerId, '1.00')
  await Promise.all([count(), count()])
  t.same(await daysOf(brand), [first, { ...second, deposits: 3, deposited: '31.50' }])
})

t.test('it is known until when it is counted, of a brand and of all', async (t) => {
  const [brand, other] = [newBrand('UTC'), newBrand('UTC')]
  const [playerId, otherId] = [await newAccount(brand), await newAccount(other)]
  const untilOf = async (scope: Scope) => (await shownOf(scope)).countedUntil
  const untilOfAll = async () => (await alice.call(listMoneyDays, { input: { environment: 'sandbox' } })).countedUntil
  t.equal(await untilOf(brand), null, 'nothing was entered')
  const at = (minute: number) => `2026-06-20T12:0${minute}:00.000Z`
  for (const [minute, scope, id] of [
    [1, other, otherId],
    [2, brand, playerId],
    [3, brand, playerId],
  ] as const) {
    await time.set(new Date(at(minute)))
    await deposit(scope, id, '1.00')
  }
  t.same([await daysOf(brand), await untilOf(brand), await untilOfAll()], [[], at(2), at(1)])
  // An account is named before it is counted.
  await count()
  t.equal(await untilOf(brand), at(2))
  await count()
  t.equal(await untilOfAll(), null)
  await time.set(new Date(at(4)))
  await withdraw(brand, playerId, '1.00')
  t.same([await untilOf(brand), await untilOf(other), await untilOfAll()], [at(4), null, at(4)])
  await count()
  await count()
  t.same([await untilOf(brand), await untilOfAll()], [null, null])
})

t.test('production and sandbox are apart, and a month is read', async (t) => {
  const [production, sandbox] = [newBrand('UTC', 'production'), newBrand('UTC')]
  await time.set(new Date('2026-07-01T12:00:00.000Z'))
  for (const scope of [production, sandbox]) await deposit(scope, await newAccount(scope), '5.00')
  await count()
  await count()
  const live = (await alice.call(listMoneyDays, { input: { environment: 'production' } })).data
  t.match(live, [{ day: '2026-07-01', deposits: 1, deposited: '5.00' }])
  t.equal(live.length, 1)
  t.same(await daysOf({ ...production, environment: 'sandbox' }), [])
  await time.set(new Date('2026-08-01T12:00:00.000Z'))
  t.same((await alice.call(listMoneyDays, { input: { environment: 'production' } })).data, [])
})

t.test('what a former release entered is counted in parts, to the last of it', async (t) => {
  await time.set(new Date('2026-09-01T12:00:00.000Z'))
  const brand = newBrand('UTC')
  const playerId = await newAccount(brand)
  // It is named, and none of its entries counted.
  await deposit(brand, playerId, '0.01')
  await count()
  for (let deposits = 0; deposits < 5; deposits += 1) await deposit(brand, playerId, '0.01')
  const left: boolean[] = []
  do left.push(await count(2))
  while (left.at(-1))
  t.same(left, [true, true, true, false])
  t.match(await daysOf(brand), [{ day: '2026-09-01', deposits: 6, deposited: '0.06' }])
})

t.test('however many brands there are, some are counted at once, and in the end all', async (t) => {
  await time.set(new Date('2026-10-01T12:00:00.000Z'))
  const brands = Array.from({ length: 25 }, () => newBrand('UTC'))
  for (const brand of brands) await deposit(brand, await newAccount(brand), '3.00')
  // They are named first.
  await count()
  const counted = async () => (await Promise.all(brands.map(daysOf))).filter(({ length }) => length === 1).length
  t.equal(await count(), true)
  const first = await counted()
  t.ok(first > 0 && first < brands.length, `${first} of them`)
  while (await count()) {}
  t.equal(await counted(), brands.length)
})

t.test('what is counted is what the accounts of the ledger have', async (t) => {
  const { rows } = await admin.query(`
    select (select sum(amount) from wallet.money_day where type = 'DEPOSIT')::text as counted,
      (select -sum(e.amount) from wallet.entry e join wallet.account a on a.id = e.account_id where a.kind = 'deposits')::text as entered`)
  t.equal(rows[0].counted, rows[0].entered)
})

t.test('what a logical dump brought is counted, and so is what comes after it, each once', async (t) => {
  await time.set(new Date('2026-10-05T12:00:00.000Z'))
  const brand = newBrand('UTC')
  const playerId = await newAccount(brand)
  await deposit(brand, playerId, '7.00')
  // As the server whose dump it is had it, which was ahead.
  const session = await admin.connect()
  await session.query("set session_replication_role = 'replica'")
  await session.query(
    `update wallet.entry e set xid = ((pg_current_xact_id()::text)::bigint + 2000)::text::xid8
    from wallet.account a where a.id = e.account_id and a.brand_id = $1`,
    [brand.brandId],
  )
  session.release(true)
  await countMoney(bed.services.wallet.db)
  t.same(await daysOf(brand), [], 'no transaction of this server has come so far')
  await admin.query(readFileSync(new URL('../../../../deploy/docker/after-dump.sql', import.meta.url), 'utf8'))
  const counted = async (deposits: number) => {
    while (await count()) {}
    const [day] = await daysOf(brand)
    return day?.deposits === deposits
  }
  // An account is named before it is counted.
  await count()
  t.ok(await counted(1))
  await deposit(brand, playerId, '8.00')
  t.ok(await counted(2))
  t.match(await daysOf(brand), [{ deposits: 2, deposited: '15.00' }])
})

t.test('a balance is known at the end of each day, from that of the first entry on', async (t) => {
  const brand = newBrand('UTC')
  const playerId = await newAccount(brand)
  const balances = async (timeZone: string) => {
    const { data } = await alice.call(listBalanceDays, { input: { playerId, timeZone } })
    return data.map(({ day, balance }) => `${day.slice(5)} ${balance}`)
  }
  t.same(await balances('UTC'), [])
  for (const at of ['10T02:59:59', '10T03:00:00', '10T23:59:59', '12T00:00:00', '12T12:00:00']) {
    await time.set(new Date(`2026-10-${at}.999Z`))
    await deposit(brand, playerId, '1.00')
  }
  await withdraw(brand, playerId, '4.50')
  t.same(await balances('UTC'), ['10-10 3.00', '10-11 3.00', '10-12 0.50'])
  const inSaoPaulo = ['10-09 1.00', '10-10 3.00', '10-11 4.00', '10-12 0.50']
  t.same(await balances('America/Sao_Paulo'), inSaoPaulo)
  await time.set(new Date('2026-11-10T12:00:00.000Z'))
  const month = await balances('UTC')
  t.same([month.length, month[0], month.at(-1)], [30, '10-12 0.50', '11-10 0.50'])
})
