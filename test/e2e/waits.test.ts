import { operations } from '@backoffice/contracts'
import { eventually, OperatorClient, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { createDeposit, expectStatus, fund, register } from '../journey.ts'
import { services } from '../services.ts'

const bed = await testBed(t, services)
const admin = bed.sql('admin')
const { sandbox } = await bed
  .team('alice')
  .call(operations.gateway.createOperator, { input: { name: 'Durable', rateLimitPerMinute: 100_000 } })
const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, {
  key: sandbox.key,
  secret: sandbox.secret ?? '',
})
t.teardown(() => client.close())
const { id: playerId } = await register(client)

// The tests' server waits for no disk. A setting of the database holds for the connections that are opened after it.
const { rows } = await admin.query('select current_database() as name')
await admin.query(`alter database "${rows[0].name}" set synchronous_commit = on`)
await admin.query(
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
)

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

t.test('of the commits of a request the last one waits for the disk, and makes those before it durable', async (t) => {
  const deposit = await createDeposit(client, playerId)
  t.same(await committed(3), ['claim insert off', 'operation insert on', 'claim update off'])
  expectStatus(await client.post(`/deposits/${deposit.id}/confirm`), 200)
  const lines = await committed(6)
  t.same(lines.slice(0, 3), ['claim insert off', 'operation insert off', 'transfer insert on'])
  // A mark or a stored reply that is lost is made again.
  t.same(lines.slice(3).sort(), ['claim update off', 'outbox delete off', 'outbox delete off'])
})

t.test('a refusal is no command of another service: its commit waits', async (t) => {
  expectStatus(await client.post('/deposits/dep_00000000000000000000000000/confirm'), 404)
  t.same(await committed(3), ['claim insert off', 'operation insert on', 'claim update off'])
})

t.test('a service with another log refuses to be relied upon, and from then on each commit waits', async (t) => {
  bed.services.wallet.db.wal.id = 'of another server'
  const deposit = await createDeposit(client, playerId)
  await committed(3)
  // The relay relies on nobody: before it sends, it has a commit of its own that waits.
  const path = `/deposits/${deposit.id}/confirm`
  const key = 'confirmed-over-two-logs'
  t.equal((await client.post(path, {}, { idempotencyKey: key })).status, 503)
  await eventually(async () => (await client.post(path, {}, { idempotencyKey: key })).status === 200)
  await eventually(async () => (await admin.query('select from payments.outbox')).rowCount === 0)
  await admin.query('delete from noted.committed')

  const next = await createDeposit(client, playerId)
  await committed(3)
  expectStatus(await client.post(`/deposits/${next.id}/confirm`), 200)
  t.same((await committed(6)).slice(0, 3), ['claim insert off', 'operation insert on', 'transfer insert on'])
})
