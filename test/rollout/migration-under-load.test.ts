// proof: real time-outs at locks that are held.
// waits: for servers to recover and for real time-outs.
// In a process of its own: its limits are shorter.

import { migrate } from '@backoffice/migrator/schema'
import { payments } from '@backoffice/payments'
import { bePatient, type Logger } from '@backoffice/process'
import type { Migration } from '@backoffice/service-runtime'
import { eventually, OperatorClient, reconcile, shortPatience, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import pg from 'pg'
import t from 'tap'
import { register } from '../journey.ts'
import { services } from '../services.ts'
import { newOperator, startLoad, statementAgrees } from './fleet.ts'

const clients = 4
const attemptsMet = 2

/** What a next release may add to the tables that carry most. */
const next: Readonly<Record<'wallet' | 'payments', readonly Migration[]>> = {
  wallet: [
    { name: '9001_audit_note', sql: 'alter table wallet.entry add column audit_note text' },
    {
      name: '9002_audit_note_index',
      sql: 'create index concurrently entry_audit_note on wallet.entry (audit_note)',
      transactional: false,
    },
  ],
  payments: [{ name: '9001_audit_note', sql: 'alter table payments.deposit add column audit_note text' }],
}

t.test('migrating under load, while somebody reads the whole ledger in one snapshot, fails no request', async (t) => {
  const bed = await testBed(t, services)
  const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, await newOperator({ bed }))
  t.teardown(() => client.close())
  const playerIds = await Promise.all(Array.from({ length: clients }, async () => (await register(client)).id))
  const load = startLoad(client, playerIds)
  t.teardown(() => load.stop())
  await eventually(() => load.deposits >= clients)

  // As a reconciliation does.
  const reader = new pg.Client({ connectionString: bed.environment('reconciler').DATABASE_URL })
  await reader.connect()
  t.teardown(() => reader.end())
  await reader.query('begin isolation level repeatable read read only')
  await reader.query('select from wallet.entry, payments.reconcilable_deposit limit 1')

  const met: string[] = []
  bePatient(shortPatience)
  const log = { info() {}, warn: ({ migration }: { migration: string }) => met.push(migration) } as unknown as Logger
  const migrated = (async () => {
    const applied: string[] = []
    for (const service of [wallet, payments]) {
      const migrations = [...service.migrations, ...next[service.name]]
      applied.push(...(await migrate({ service: service.name, migrations, url: bed.databaseUrl, log })))
    }
    return applied
  })()
  await eventually(() => met.length >= attemptsMet || load.failures.length > 0)
  t.same(load.failures, [], 'while the migration finds the ledger locked, every request is answered as it should be')
  const before = load.deposits
  await eventually(() => load.deposits >= before + clients || load.failures.length > 0)
  await reader.query('commit')
  t.same(
    await migrated,
    [...next.wallet, ...next.payments].map(({ name }) => name),
  )
  const after = load.deposits
  await eventually(() => load.deposits >= after + clients || load.failures.length > 0)
  await load.stop()
  t.same(load.failures, [])
  for (const playerId of playerIds) t.ok(await statementAgrees(client, playerId), 'the statement sums to the balance')
  t.equal((await reconcile(bed.team('alice'))).differencesTotal, 0, 'the reconciliation finds nothing')
  t.comment(`${load.answered} requests, ${load.deposits} deposits, ${met.length} attempts met a lock`)
})
