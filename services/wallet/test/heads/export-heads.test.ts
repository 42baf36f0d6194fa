import { readdirSync } from 'node:fs'
import { operations, type ReconciliationReport } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { migrate, newId } from '@backoffice/service-runtime/internal'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { exportHeads } from '../../src/background/export-heads.ts'
import { readNewestHeads } from '../../src/heads/head-files.ts'
import { wallet } from '../../src/service.ts'

const dir = t.testdir()
const config = { wallet: { HEADS_EXPORT_DIR: dir, HEADS_EXPORT_EVERY_MS: 3_600_000 } }
const bed = await testBed(t, { wallet }, { config })
for (const { name: service, migrations } of [payments, players])
  await migrate({ service, migrations, url: bed.databaseUrl })
const { wallet: service } = bed.services
const scope = bed.scope()

async function deposit(playerId: string): Promise<void> {
  const input = { playerId, depositId: newId('dep'), amount: '1.00', effectiveAt: '2026-03-02T12:00:00.000Z' }
  await bed.rpc.call(operations.wallet.creditAccount, { scope, input })
}

async function headsReport(): Promise<ReconciliationReport['differences']> {
  const alice = bed.team('alice')
  const { runId } = await alice.call(operations.wallet.reconcileWallet, { input: {} })
  return eventually(async () => {
    const { report } = await alice.call(operations.wallet.reconcileWallet, { input: { runId } })
    if (report === null) throw new Error('not yet')
    return report.differences.filter(({ check }) => check === 'exportedHeads')
  })
}

t.test('the heads that moved are exported, and nothing is when none did', async (t) => {
  const players = [newId('ply'), newId('ply')] as const
  for (const playerId of players) await deposit(playerId)
  t.equal(await exportHeads(service, dir), 2)
  const heads = [...(await readNewestHeads(dir)).values()]
  t.same(heads.map(({ playerId, seq }) => [playerId, seq]).sort(), players.map((id) => [id, '1']).sort())
  t.same(await headsReport(), [])
  await deposit(players[0])
  await exportHeads(service, dir)
  t.same([...(await readNewestHeads(dir)).values()].find(({ playerId }) => playerId === players[0])?.seq, '2')
  t.notOk(readdirSync(dir).some((name) => name.endsWith('.part')))
})

t.test('an end of a chain that was cut off, balance and head included, is found by its exported head', async (t) => {
  const playerId = newId('ply')
  for (let round = 0; round < 3; round++) await deposit(playerId)
  await exportHeads(service, dir)
  const client = await bed.sql('admin').connect()
  await client.query("set session_replication_role = 'replica'")
  await client.query(
    `with cut as (
      delete from wallet.entry e using wallet.account a where a.id = e.account_id and a.owner_id = $1 and e.seq = 3 returning e.transfer_id
    ), other as (delete from wallet.entry e using cut where e.transfer_id = cut.transfer_id and e.seq is null)
    delete from wallet.transfer t using cut where t.id = cut.transfer_id`,
    [playerId],
  )
  await client.query(
    `update wallet.account a set posted = 200, seq = 2, head = (select hash from wallet.entry e where e.account_id = a.id and e.seq = 2)
    where owner_id = $1`,
    [playerId],
  )
  await client.query("set session_replication_role = 'origin'")
  client.release()
  t.match(await headsReport(), [{ subject: `${playerId} entry 3`, actual: 'nothing' }])
})
