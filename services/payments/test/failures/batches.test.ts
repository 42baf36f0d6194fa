import { randomUUID } from 'node:crypto'
import { eventually, holdOpen } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath, outcomes } from '../money-path.ts'

const path = await moneyPath(t)
const admin = path.bed.sql('admin')

t.test('a batch sees the reference that another process took meanwhile, and creates its other deposits', async (t) => {
  const playerIds = await Promise.all([1, 2, 3, 4].map(() => path.newPlayer({ kyc: false })))
  const [playerId = ''] = playerIds
  await path.createDeposit(playerId)
  const externalReference = `pay-${randomUUID()}`
  const other = await holdOpen(
    admin,
    `insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
      currency, method, status, version, created_at)
    select 'dep_of_another_process', brand_id, operator_id, environment, time_zone, 'ply_another', $1, amount, currency,
      method, 'pending', 1, now()
    from payments.deposit where player_id = $2 limit 1`,
    [externalReference, playerId],
  )
  const calls = playerIds.map((id, index) => path.createDeposit(id, index === 0 ? { externalReference } : {}))
  const ended = outcomes(calls)
  await other.isAwaited({ role: 'backoffice_payments' })
  await other.commit()
  t.same(await ended, { done: 3, DEPOSIT_ALREADY_EXISTS: 1 })
  const [refused] = await Promise.allSettled(calls)
  t.match(refused, { reason: { details: { depositId: 'dep_of_another_process' } } })
})

const database = new URL(path.bed.databaseUrl).pathname.slice(1)

/** Connections take up settings when they begin, and tell what they counted when they end. */
async function reconnect(): Promise<void> {
  const ended = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename like 'backoffice\\_payments%'`
  await admin.query(ended)
}

t.test('batches over two replicas want the same records in any order, and never lock each other out', async (t) => {
  // Sooner than anybody gives up waiting for a lock. Who is ended as a deadlock runs again, so only PostgreSQL knows of it.
  await admin.query(`alter database ${database} set deadlock_timeout = '10ms'`)
  await reconnect()
  await path.bed.start('payments')
  const playerIds = await Promise.all(Array.from({ length: 20 }, () => path.newPlayer({ kyc: false })))
  for (let round = 0; round < 10; round++) {
    const deposits = await Promise.all(playerIds.map((id) => path.createDeposit(id, { amount: '1.00' })))
    const ids = deposits.map(({ id }) => id)
    const references = playerIds.map(() => `pay-${randomUUID()}`)
    const [created, ended] = await Promise.all([
      // Each reference is wanted for several players, and each player wants several.
      outcomes(
        [...playerIds, ...playerIds.toReversed(), ...playerIds.toSorted(() => Math.random() - 0.5)].map((id, index) =>
          path.createDeposit(id, { externalReference: references[index % references.length] ?? '' }),
        ),
      ),
      outcomes([...ids.map((id) => path.confirm(id)), ...ids.toReversed().map((id) => path.fail(id))]),
    ])
    t.same(created, { done: 20, DEPOSIT_ALREADY_EXISTS: 40 })
    t.same(ended, { done: 20, DEPOSIT_NOT_PENDING: 20 })
  }
  await reconnect()
  const known = `select deadlocks::int, sessions_killed::int as killed from pg_stat_database where datname = current_database()`
  const counted = await eventually(async () => {
    const { rows } = await admin.query(known)
    return rows[0].killed > 2 && rows[0]
  })
  t.equal(counted.deadlocks, 0)
})
