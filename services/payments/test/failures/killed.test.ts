// What `test/failures` (crash points) does not try: a real SIGKILL, nobody who comes back, and a batch.

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import { eventually, held, refusal } from '@backoffice/test-kit'
import t from 'tap'
import { sweepIntents } from '../../src/withdrawals/request.ts'
import { HeldReplies } from '../held-replies.ts'
import { moneyPath } from '../money-path.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const path = await moneyPath(t)
const { bed, scope } = path
const admin = bed.sql('admin')

/** Payments as a process of its own, the only replica. */
async function startDoomed() {
  await bed.services.payments.drain()
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...bed.environment('payments') },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const input = { playerId: 'ply_nobody' }
  await eventually(() => bed.rpc.call(operations.payments.readDayDeposits, { scope, input }))
  return {
    /** SIGKILL, and what PostgreSQL was about to do for it does not happen either. The leases that it had run out. */
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      await admin.query(
        `select pg_terminate_backend(pid, 10000) from pg_stat_activity
        where datname = current_database() and usename like 'backoffice\\_payments%'`,
      )
      await admin.query('update payments.outbox set leased_until = now()')
    },
  }
}

t.test('killed with a hold in place, and nobody comes back: another replica gives it back, once', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const operationId = randomUUID()
  const request = () => path.requestWithdrawal(playerId, { amount: '100.00' }, operationId)
  const doomed = await startDoomed()
  const replies = await held(admin, 'lock table payments.operation in exclusive mode')
  request().catch(() => undefined)
  await replies.isAwaited({ role: 'backoffice_payments' })
  await doomed.kill()
  await replies.rollback()
  t.equal(await path.balance(playerId), '100.00 / 0.00', 'the wallet has reserved it')

  const sweeper = await bed.start('payments')
  await bed.services.wallet.drain()
  t.equal(await sweepIntents(sweeper, { abandonAfterMs: -1 }), 1)
  await sweeper.drain()
  await bed.start('payments')
  // Its own old hold would refuse it with INSUFFICIENT_FUNDS, for ever: so the wallet is not asked yet.
  t.equal(await refusal(request()), 'SERVICE_UNAVAILABLE')
  await bed.start('wallet')
  await eventually(async () => (await path.balance(playerId)) === '100.00 / 100.00')

  const [abandoned] = await path.rows<{ id: string; status: string }>(
    'select id, status from withdrawal where operation_id = $1',
    [operationId],
  )
  const withdrawalId = abandoned?.id ?? ''
  t.equal(abandoned?.status, 'abandoned')
  t.equal(await refusal(path.getWithdrawal(withdrawalId)), 'WITHDRAWAL_NOT_FOUND')
  const late = { playerId, withdrawalId, amount: '100.00' }
  const { state } = await bed.rpc.call(operations.wallet.openHold, { scope, input: late })
  t.equal(state, 'released', 'a hold that arrives late reserves nothing')
  t.not((await request()).id, withdrawalId)
  t.equal(await path.balance(playerId), '100.00 / 0.00')
})

t.test('killed after the commit of a batch, each of its credits and events follows once', async (t) => {
  const playerId = await path.newPlayer({ kyc: false })
  const ids = (await Promise.all(Array.from({ length: 5 }, () => path.createDeposit(playerId)))).map(({ id }) => id)
  const replies = await HeldReplies.on(path)
  const doomed = await startDoomed()
  const transfers = await held(admin, 'lock table wallet.transfer in exclusive mode')
  await replies.gather(
    (operationId) => path.confirm('dep_unknown', operationId),
    () => ids.map((id) => path.confirm(id, `confirm-${id}`)),
  )
  const confirmed = `select from deposit where status = 'confirmed' and player_id = $1 group by xmin::text having count(*) = 5`
  await eventually(async () => (await path.rows(confirmed, [playerId])).length === 1)
  await transfers.isAwaited({ role: 'backoffice_wallet' })
  await doomed.kill()
  await transfers.rollback()
  await bed.start('payments')
  for (const id of ids) t.match(await path.confirm(id, `confirm-${id}`), { id, status: 'confirmed' })
  t.same(
    await path.ledgerTypes(playerId),
    ids.map(() => 'DEPOSIT 10.00'),
  )
  await eventually(async () => (await path.rows('select from outbox')).length === 0)
  for (const id of ids) t.equal((await path.events(id)).length, 1)
})
