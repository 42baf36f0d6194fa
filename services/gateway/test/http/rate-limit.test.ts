import { operations } from '@backoffice/contracts'
import { testBed } from '@backoffice/test-kit'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { gateway } from '../../src/service.ts'
import { send } from '../signed-client.ts'

const bed = await testBed(t, { gateway, webhooks }, { config: { gateway: { FAILED_AUTHENTICATIONS_PER_MINUTE: 20 } } })
const replicas = [bed.services.gateway.addresses.baseUrl, (await bed.start('gateway')).addresses.baseUrl]
const { createOperator } = operations.gateway

t.test('two replicas together accept no more than the limit, and say when to come back', async (t) => {
  const limit = 40
  const { sandbox, production } = await bed
    .team('alice')
    .call(createOperator, { input: { name: 'Limited', rateLimitPerMinute: limit } })
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, index) => send(replicas[index % 2] ?? '', sandbox, { path: '/me' })),
  )
  const accepted = answers.filter(({ status }) => status === 200).length
  t.ok(accepted <= limit, `${accepted} accepted`)
  t.ok(accepted >= limit / 2, 'and little of the budget is wasted')
  const refused = answers.find(({ status }) => status === 429)
  t.equal(refused?.json.error.code, 'RATE_LIMITED')
  const retryAfter = Number(refused?.headers['retry-after'])
  t.ok(retryAfter >= 1 && retryAfter <= 60, `Retry-After ${retryAfter}`)
  t.equal(
    (await send(replicas[0] ?? '', production, { path: '/me' })).status,
    200,
    "the sandbox never eats production's budget",
  )
})

t.test('one replica accepts exactly the limit', async (t) => {
  const { sandbox } = await bed.team('alice').call(createOperator, { input: { name: 'Exact', rateLimitPerMinute: 25 } })
  let accepted = 0
  for (let count = 0; count < 30; count++)
    accepted += (await send(replicas[0] ?? '', sandbox, { path: '/me' })).status === 200 ? 1 : 0
  t.equal(accepted, 25)
})

t.test('who only guesses keys is told to wait, and a good key still works', async (t) => {
  const { sandbox } = await bed.team('alice').call(createOperator, { input: { name: 'Guessed' } })
  t.equal((await send(replicas[0] ?? '', sandbox, { path: '/me' })).status, 200)
  const guess = (count: number) => send(replicas[0] ?? '', { key: `bk_test_${count}`, secret: 'x' }, { path: '/me' })
  const statuses = new Set<number>()
  for (let count = 0; count < 30; count++) statuses.add((await guess(count)).status)
  t.strictSame([...statuses], [401, 429])
  t.equal((await send(replicas[0] ?? '', sandbox, { path: '/me' })).status, 200)
})
