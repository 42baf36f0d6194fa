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
})
