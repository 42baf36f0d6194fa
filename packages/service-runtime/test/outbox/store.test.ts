import { dayMs, newId } from '@backoffice/process'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { leaseDue, release } from '../../src/outbox/store.ts'
import { addUp, payments } from '../probe-services.ts'

const clock = { now: () => new Date(Date.now() + dayMs) }
const bed = await testBed(t, { payments }, { clock })
const { db } = bed.services.payments

t.test("since when a row waits is PostgreSQL's to say: the clock of this process is a day ahead", async (t) => {
  const [record, operationId] = ['waits', newId('opn')]
  // There is no service that does the command.
  const input = { record, by: 1, sends: ['command' as const] }
  t.equal(await refusal(bed.rpc.call(addUp, { scope: bed.scope(), input, operationId })), 'SERVICE_UNAVAILABLE')
  t.match(await db`select created_at <= now() as is_past from outbox where operation_id = ${operationId}`, [
    { isPast: true },
  ])
})

t.test('a row that could not be sent is given back with its fault, and no other row is touched', async (t) => {
  await db`
    insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
    select id, id, 1, 'command', 'wallet.creditAccount', '{}', 'sandbox', now(), now() + interval '1 hour'
    from unnest(array['failed', 'other']) id
  `
  await release(db, [{ id: 'failed', delayMs: 0, error: new Error('the receiver is away') }])
  t.match(
    await db`select id, last_fault is not null as has_fault, leased_until > now() + interval '30 minutes' as leased from outbox where id in ('failed', 'other') order by id`,
    [
      { id: 'failed', hasFault: true, leased: false },
      { id: 'other', hasFault: false, leased: true },
    ],
  )
})

t.test('a row that somebody has leased is taken by nobody else until the lease has ended', async (t) => {
  const taken = async () => {
    const ids = (await leaseDue(db, 'command')).map(({ id }) => id)
    const rows = await db<{ attempts: number }>`select attempts from outbox where id = 'other'`
    return ids.includes('other') || rows[0]?.attempts !== 0
  }
  t.notOk(await taken())
  await db`update outbox set leased_until = now() - interval '1 second' where id = 'other'`
  t.ok(await eventually(taken))
})

t.test('an event is not taken while an earlier command of its record is unfinished', async (t) => {
  await db`
    insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
    values ('credit', 'rec', 1, 'command', 'x', '{}', 'sandbox', now(), now() + interval '1 hour'), ('event', 'rec', 2, 'event', 'x', '{}', 'sandbox', now(), null)
  `
  const attempts = async () =>
    (await db<{ attempts: number }>`select attempts from outbox where id = 'event'`)[0]?.attempts
  t.same(await leaseDue(db, 'event'), [])
  t.equal(await attempts(), 0)
  await db`delete from outbox where id = 'credit'`
  // By this or by the service's own relay.
  t.ok(await eventually(async () => (await leaseDue(db, 'event')).length > 0 || (await attempts()) !== 0))
})
