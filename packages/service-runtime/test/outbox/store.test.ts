import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { release } from '../../src/outbox/store.ts'
import { payments } from '../probe-services.ts'

const { db } = (await testBed(t, { payments })).services.payments

t.test('a row that could not be sent is given back with its fault, and no other row is touched', async (t) => {
  await db`
    insert into outbox (id, aggregate, aggregate_seq, kind, name, message, created_at, leased_until)
    select id, id, 1, 'command', 'wallet.creditAccount', '{}', now(), now() + interval '1 hour'
    from unnest(array['failed', 'other']) id
  `
  await release(db, [{ id: 'failed', delayMs: 0, error: new Error('the receiver is away') }])
  t.match(
    await db`select id, last_fault is not null as has_fault, leased_until > now() + interval '30 minutes' as leased from outbox order by id`,
    [
      { id: 'failed', hasFault: true, leased: false },
      { id: 'other', hasFault: false, leased: true },
    ],
  )
})
