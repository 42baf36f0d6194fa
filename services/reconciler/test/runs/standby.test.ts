// proof: starts a second PostgreSQL that follows the first.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations } from '@backoffice/contracts'
import { startPostgres } from '@backoffice/local-stack'
import { newId } from '@backoffice/process'
import { eventually, recoverCopy, takeBaseBackup } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { ledgerBed, runOf } from './run.ts'

const dir = mkdtempSync(join(tmpdir(), 'backoffice-standby-'))
const server = { password: 'standby', durable: 'process', maxConnections: 60 } as const
const primary = await startPostgres({ ...server, dir: join(dir, 'primary') })
let standby: Awaited<ReturnType<typeof startPostgres>> | undefined
// Before the bed, so that it ends after it.
t.teardown(async () => {
  await standby?.child.stop()
  await primary.child.stop()
  rmSync(dir, { recursive: true, force: true })
})
const bed = await ledgerBed(t, { servers: { postgresUrl: primary.url } })

/** A copy of the primary's files that follows it from then on. */
async function startStandby() {
  const folder = join(dir, 'standby')
  mkdirSync(folder)
  const copy = join(folder, 'data')
  await takeBaseBackup({ url: primary.url, data: join(dir, 'primary/data'), copy, log: 'copied' })
  const { hostname, port, password } = new URL(primary.url)
  const to = `host=${hostname} port=${port} user=postgres password=${password}`
  recoverCopy(copy, { primary_conninfo: to }, 'standby')
  return startPostgres({ ...server, dir: folder })
}

async function credit(playerId: string): Promise<void> {
  const input = { playerId, depositId: newId('dep'), amount: '1.00', effectiveAt: new Date().toISOString() }
  await bed.rpc.call(operations.wallet.creditAccount, { scope: bed.scope(), input })
}

t.test('a standby is read, as of the present, and nothing is written there', async (t) => {
  standby = await startStandby()
  const url = new URL(bed.environment('reconciler').DATABASE_URL ?? '')
  url.port = new URL(standby.url).port
  const reader = new pg.Client({ connectionString: url.href })
  await reader.connect()
  t.teardown(() => reader.end())
  t.same((await reader.query('select pg_is_in_recovery() as is_standby')).rows, [{ is_standby: true }])
  for (const isFull of [true, false]) {
    const playerId = newId('ply')
    await credit(playerId)
    const { kind, checks, differences } = await runOf(bed, { url: url.href, isFull })
    t.equal(kind, isFull ? 'full' : 'incremental')
    t.equal(checks.find(({ check }) => check === 'chains')?.compared, 1, 'with what was entered just before')
    // The credits have no deposits.
    t.same([...new Set(differences.map(({ check }) => check))], ['deposits'])
    // The standby has the checkpoint when the next run reads it there.
    await eventually(
      async () =>
        (await reader.query('select from reconciler.account_checkpoint where hash is not null')).rowCount ===
        (isFull ? 1 : 2),
    )
  }
})
