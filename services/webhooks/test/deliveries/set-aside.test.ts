import type { EventMessage } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Reaction } from '@backoffice/service-runtime'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { rerunSetAside } from '../../src/deliveries/set-aside.ts'
import { webhooks } from '../../src/service.ts'

const bed = await testBed(t, { webhooks })
const { db, log } = bed.services.webhooks
const pool = bed.sql('webhooks')

const heard: string[] = []
const record: Reaction = {
  name: 'schedule-delivery',
  kinds: ['webhook.test'],
  async react(events) {
    if (events.some(({ event }) => event.operatorId === 'op_poison')) throw new Error('never')
    heard.push(...events.map(({ event }) => event.id))
  },
}

const event = (operatorId = 'op_test'): EventMessage<'webhook.test'> => ({
  id: newId('evt'),
  type: 'webhook.test',
  apiVersion: '1.1.0',
  environment: 'sandbox',
  operatorId,
  brandId: 'brd_1',
  createdAt: '2026-03-02T12:00:00.000Z',
  data: { message: 'x' },
})

/** Sets messages aside, and lets the reaction handle a run of them. */
async function rerun(payloads: readonly string[], limit = 10) {
  heard.length = 0
  await pool.query('delete from set_aside_message')
  await pool.query(
    `insert into set_aside_message (consumer, subject, payload, fault, set_aside_at)
     select 'schedule-delivery', 'events.webhook.test', payload, 'no room', now() from unnest($1::text[]) as payload`,
    [payloads],
  )
  return db.transaction((tx) => rerunSetAside(record, { id: null, limit }, { db: tx, now: new Date(), log }))
}

t.test('a message that is run again and whose event was handled has no effect, and is done', async (t) => {
  const seen = event()
  t.same(await rerun([JSON.stringify(seen)]), { handled: 1, left: 0 })
  t.same(heard, [seen.id])
  t.same(await rerun([JSON.stringify(seen)]), { handled: 1, left: 0 })
  t.same(heard, [])
})

t.test('messages that cannot be read hide none that can', async (t) => {
  const behind = event()
  t.same(await rerun([...Array(25).fill('{"no json'), JSON.stringify(behind)]), { handled: 1, left: 25 })
  t.same(heard, [behind.id])
})

t.test('of messages that are run again the one that fails stays, and its neighbours are handled', async (t) => {
  const [poison, ...fresh] = [event('op_poison'), event(), event(), event()] as const
  const payloads = [fresh[0], poison, fresh[1], fresh[2]].map((one) => JSON.stringify(one))
  t.same(await rerun(payloads), { handled: 3, left: 1 })
  t.same(heard.toSorted(), fresh.map(({ id }) => id).toSorted())
  const { rows } = await pool.query('select payload from set_aside_message')
  t.same(rows, [{ payload: JSON.stringify(poison) }])
  await t.rejects(rerun([JSON.stringify(poison)]), { message: 'never' }, 'where nothing can be handled it says why')
})
