import { operations } from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import t from 'tap'
import { countArrivals } from '../../src/deliveries/hours.ts'
import { webhooksBed } from '../bed.ts'

// The clock of this replica is ahead of PostgreSQL's.
const clock = { now: () => new Date(Date.now() + 26 * hourMs) }
const { bed, operator, leave } = await webhooksBed(t, {}, { clock })
const count = (most: number) => bed.services.webhooks.db.transaction((tx) => countArrivals(tx, most))
const begun = new Date((Math.floor(Date.now() / hourMs) - 1) * hourMs)

/** What is counted of the hour that was full last, of all operators and of each. */
async function counted(input: { readonly environment?: 'production'; readonly operatorIds?: string[] } = {}) {
  const asked = { input: { environment: 'sandbox', ...input } } as const
  const { hours, data, ...all } = await bed.team('integration').call(operations.webhooks.listDeliveryHours, asked)
  const place = hours.indexOf(begun.toISOString())
  return [{ operatorId: 'all', ...all }, ...data].map((one) => [one.operatorId, one.events[place], one.inTime[place]])
}

t.test('what reached its operator within two minutes is counted once, by hour and by operator', async (t) => {
  const [{ scope: good }, { scope: bad }] = [await operator(), await operator()]
  const [delivered, failed, pending] = [{ state: 'delivered' }, { state: 'failed' }, { state: 'pending' }] as const
  await leave(good, [delivered, delivered, { ...delivered, type: 'webhook.test' }, { state: 'withheld' }], begun)
  const [, , late, young] = await leave(bad, [delivered, failed, delivered, pending, delivered], begun)
  const move = (column: string, id: string | undefined, by: string) =>
    bed.sql('webhooks').query(`update delivery set ${column} = ${column} + $2::interval where id = $1`, [id, by])
  await move('finished_at', late, '121 seconds')
  await move('received_at', young, '3 hours')
  while (await count(2));
  await Promise.all([count(9), count(9)])
  const ofGood = [good.operatorId, 2, 2]
  t.same(await counted(), [['all', 5, 3], [bad.operatorId, 3, 1], ofGood], 'nothing behind the young one')
  await move('received_at', young, '-3 hours')
  while (await count(2));
  t.same(await counted(), [['all', 7, 4], [bad.operatorId, 5, 2], ofGood])
  t.same(await counted({ operatorIds: [good.operatorId, 'op_unknown'] }), [['all', 2, 2], ofGood])
  t.same(await counted({ environment: 'production' }), [['all', 0, 0]])
})
