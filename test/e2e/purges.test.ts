import { randomUUID } from 'node:crypto'
import { operations, type ServiceName, serviceNames } from '@backoffice/contracts'
import type { players } from '@backoffice/players'
import { dayMs, loadConfig } from '@backoffice/process'
import { purge, runtimeRetentions, startService } from '@backoffice/service-runtime/testing'
import { eventually, reconcile, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { createDeposit, expectStatus, fund, operatorIn, register } from '../journey.ts'
import { services } from '../services.ts'

const bed = await testBed(t, services)
const admin = bed.sql('admin')
const team = bed.team('alice')
const { client } = await operatorIn(t, bed)
const { id: playerId } = await register(client)
await eventually(async () => typeof (await fund(client, playerId, '1.00')) === 'string')

// A deferred trigger runs in the commit: it sees whether that waits.
await admin.query(`
  create schema noted;
  create table noted.committed (at serial, what text, waits text);
  create function noted.note() returns trigger language plpgsql security definer as $$
    begin
      insert into noted.committed (what, waits)
      values (tg_table_name || ' ' || lower(tg_op), current_setting('synchronous_commit'));
      return null;
    end $$;
`)
for (const [table, change] of [
  ['gateway.claim', 'insert or update'],
  ['payments.operation', 'insert'],
  ['payments.outbox', 'delete'],
  ['wallet.transfer', 'insert'],
])
  await admin.query(`
    create constraint trigger noted after ${change} on ${table} deferrable initially deferred
    for each row execute function noted.note()
  `)

/** What was committed since the last look, in order. */
async function committed(count: number): Promise<readonly string[]> {
  const rows = () => admin.query("select what || ' ' || waits as line from noted.committed order by at")
  await eventually(async () => (await rows()).rowCount === count)
  const lines = (await rows()).rows.map(({ line }) => line)
  await admin.query('delete from noted.committed')
  return lines
}

t.test('a commit waits for the disk unless what it writes can be made again: a mark, a stored reply', async (t) => {
  const deposit = await createDeposit(client, playerId)
  t.same(await committed(3), ['claim insert on', 'operation insert on', 'claim update off'])
  expectStatus(await client.post(`/deposits/${deposit.id}/confirm`), 200)
  const lines = await committed(6)
  t.same(lines.slice(0, 3), ['claim insert on', 'operation insert on', 'transfer insert on'])
  t.same(lines.slice(3).sort(), ['claim update off', 'outbox delete off', 'outbox delete off'])
})

t.test('a stored refusal waits too: it names its request, and made again it would name another', async (t) => {
  const deposit = await createDeposit(client, playerId)
  expectStatus(await client.post(`/deposits/${deposit.id}/fail`), 200)
  await committed(6)
  expectStatus(await client.post(`/deposits/${deposit.id}/confirm`), 409)
  t.same(await committed(3), ['claim insert on', 'operation insert on', 'claim update on'])
  await admin.query('drop schema noted cascade')
})

/** Rows of every kind that is purged, made as they are made in use. */
async function leaveRows(): Promise<void> {
  const { operatorId, client } = await operatorIn(t, bed)
  const ofOperator = { operatorId, environment: 'sandbox' as const }
  await team.call(operations.webhooks.setWebhookUrl, { input: { ...ofOperator, url: 'http://127.0.0.1:9/hook' } })
  await team.call(operations.webhooks.rotateWebhookSecret, {
    input: { ...ofOperator, overlapHours: 1, reason: 'a test' },
  })
  await team.call(operations.webhooks.disableWebhook, { input: { ...ofOperator, reason: 'a test' } })
  // Its signature is remembered.
  await team.call(operations.gateway.setReplayProtection, { input: { operatorId, replayProtection: 'on' } })
  const { id: playerId } = await register(client)
  expectStatus(await client.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
  await team.call(operations.players.takeKycCase, { input: { playerId } })
  await createDeposit(client, playerId)
  await fund(client, playerId, '10.00')
  const [game] = expectStatus(await client.get('/games'), 200).data
  expectStatus(await client.post(`/players/${playerId}/game-sessions`, { gameId: game.id }), 201)
  const tooMuch = { amount: '11.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
  expectStatus(await client.post(`/players/${playerId}/withdrawals`, tooMuch), 422)
  await reconcile(team)
  await bed.team('bob').call(operations.gateway.endSession, { input: {} })
  await admin.query(
    `
    insert into webhooks.set_aside_message (consumer, subject, payload, fault, set_aside_at)
    values ('schedule-delivery', 'events.x', $1, 'a test', now())`,
    [randomUUID()],
  )
  await admin.query("insert into webhooks.missing_delivery values ('evt_missing', 'payments', now(), now())")
  await admin.query("insert into webhooks.delivery_hour values (now(), 'whe_1', 1, 1)")
  await eventually(async () => (await count('webhooks.delivery', 'finished_at')) > 0)
  await eventually(async () => (await count('gateway.refused_request', 'at')) > 0)
}

async function count(table: string, column: string): Promise<number> {
  return (await admin.query(`select from ${table} where ${column} is not null`)).rowCount ?? 0
}

/** A replica on a host whose clock is ahead. */
async function startAhead(name: ServiceName, byMs: number) {
  const service = services[name] as typeof players
  const running = await startService(service, loadConfig(service.configuration, bed.environment(name)) as never, {
    clock: { now: () => new Date(Date.now() + byMs) },
  })
  t.teardown(() => running.drain())
  return running
}

t.test('a host whose clock is two days ahead purges nothing before its time, in no table', async (t) => {
  await leaveRows()
  const found = new Set<string>()
  for (const name of serviceNames) {
    const ahead = await startAhead(name, 2 * dayMs)
    for (const retention of [...runtimeRetentions, ...(services[name].retentions ?? [])]) {
      const { table, column, keepMs } = retention
      const rows = await count(`${name}.${table}`, column)
      if (rows > 0) found.add(table)
      const age = (byMs: number) =>
        admin.query(
          `update ${name}.${table} set ${column} = now() - make_interval(secs => $1) where ${column} is not null`,
          [byMs / 1_000],
        )
      await age(keepMs - dayMs)
      t.equal(await purge(ahead, retention), 0, `${name}.${table}: ${rows} rows stay for another day`)
      await age(keepMs + 60_000)
      t.equal(await purge(ahead, retention), rows, `${name}.${table}: they go when they are too old`)
    }
  }
  const purged = serviceNames.flatMap((name) => services[name].retentions ?? []).map(({ table }) => table)
  const all = new Set([...runtimeRetentions.map(({ table }) => table), ...purged])
  t.same([...found].sort(), [...all].sort(), 'each table had rows')
})
