import { readdirSync } from 'node:fs'
import { operations, type ReconciliationReport } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { migrate, newId } from '@backoffice/service-runtime/internal'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
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
const alice = bed.team('alice')

async function deposit(playerId: string): Promise<void> {
  const input = { playerId, depositId: newId('dep'), amount: '1.00', effectiveAt: '2026-03-02T12:00:00.000Z' }
  await bed.rpc.call(operations.wallet.creditAccount, { scope, input })
}

async function headsReport(): Promise<ReconciliationReport['differences']> {
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

/** Takes the last entry off a player's chain, with balance and head, as somebody with the database in hand could. */
async function cutOff(playerId: string): Promise<void> {
  const client = await bed.sql('admin').connect()
  await client.query("set session_replication_role = 'replica'")
  await client.query(
    `with cut as (
      delete from wallet.entry e using wallet.account a where a.id = e.account_id and a.owner_id = $1 and e.seq = a.seq returning e.transfer_id
    ), other as (delete from wallet.entry e using cut where e.transfer_id = cut.transfer_id and e.seq is null)
    delete from wallet.transfer t using cut where t.id = cut.transfer_id`,
    [playerId],
  )
  await client.query(
    `update wallet.account a set posted = posted - 100, seq = seq - 1, updated_at = now(),
      head = (select hash from wallet.entry e where e.account_id = a.id and e.seq = a.seq - 1)
    where owner_id = $1`,
    [playerId],
  )
  await client.query("set session_replication_role = 'origin'")
  client.release()
}

const recordRestore = (restoredTo: string, reason = 'the disks were lost') =>
  alice.call(operations.wallet.recordRestore, { input: { restoredTo, reason } })
const now = () => new Date().toISOString()

t.test('an end of a chain that was cut off, balance and head included, is found by its exported head', async (t) => {
  const playerId = newId('ply')
  for (let round = 0; round < 4; round++) await deposit(playerId)
  const before = now()
  await eventually(() => now() > before)
  await exportHeads(service, dir)
  await cutOff(playerId)
  const difference = { subject: `${playerId} entry 4`, actual: 'nothing' }
  t.match(await headsReport(), [difference])

  await t.test('a restore to a moment after that export explains nothing', async (t) => {
    await recordRestore(now())
    t.match(await headsReport(), [difference])
  })

  await t.test('a restore to a moment before it does, from when it is recorded', async (t) => {
    const recorded = await recordRestore(before)
    t.same(await headsReport(), [])
    t.same(await recordRestore(before), recorded, 'repeated, it ends nothing that was exported since')
    const { rows } = await bed
      .sql('wallet')
      .query(
        `select actor, reason from audit_entry where operation = 'recordRestore' and input ->> 'restoredTo' = $1`,
        [before],
      )
    t.same(rows, [{ actor: 'alice', reason: 'the disks were lost' }])
  })

  await t.test('what is cut off after that shows again', async (t) => {
    await exportHeads(service, dir)
    t.same(await headsReport(), [])
    await cutOff(playerId)
    t.match(await headsReport(), [{ subject: `${playerId} entry 3`, actual: 'nothing' }])
  })
})

t.test('the database cannot have been restored to a moment that is still to come', async (t) => {
  t.equal(await refusal(recordRestore(new Date(Date.now() + 60_000).toISOString())), 'VALIDATION_ERROR')
})
