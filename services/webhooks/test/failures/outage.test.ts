import { eventually } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { webhooksBed } from '../bed.ts'
import { acknowledge, startReceiver } from '../receiver.ts'

const { bed, operator, emit, story } = await webhooksBed(t)

t.test(
  'PostgreSQL goes away in the middle of an attempt and comes back: nothing is lost, nothing restarted',
  async (t) => {
    const database = new URL(bed.databaseUrl).pathname.slice(1)
    const elsewhere = new URL(bed.databaseUrl)
    elsewhere.pathname = '/postgres'
    const administrator = new pg.Client({ connectionString: elsewhere.href })
    await administrator.connect()
    t.teardown(() => administrator.end())
    const away = async () => {
      await administrator.query(`alter database ${database} allow_connections false`)
      await administrator.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
    }

    const ready = async () => (await fetch(`http://127.0.0.1:${bed.services.webhooks.healthPort}/readyz`)).status
    const held: (() => void)[] = []
    const receiver = await startReceiver(t, (response, delivery, request) => {
      held.push(() => acknowledge(response, delivery, request))
    })
    const { scope } = await operator(receiver.url)
    const event = await emit(scope)
    await eventually(() => held.length === 1)
    await away()
    for (const answer of held.splice(0)) answer()
    const during = await emit(scope)
    await eventually(async () => (await ready()) === 503)
    await administrator.query(`alter database ${database} allow_connections true`)

    await eventually(() => {
      for (const answer of held.splice(0)) answer()
      return receiver.received.some(({ id }) => id === during.id)
    }, 20_000)
    for (const { id } of [event, during]) await eventually(async () => (await story(id)).state === 'delivered')
    t.equal(
      receiver.received.filter(({ id }) => id === event.id).length,
      1,
      'the answer was recorded when that was possible again',
    )
  },
)

t.test('the service drains: what is under way is finished and recorded', async (t) => {
  let answer = () => {}
  const receiver = await startReceiver(t, (response, delivery, request) => {
    answer = () => acknowledge(response, delivery, request)
  })
  const { scope } = await operator(receiver.url)
  const event = await emit(scope)
  await eventually(() => receiver.received.length === 1)
  const drained = bed.services.webhooks.drain()
  answer()
  await drained
  const { rows } = await bed.sql('webhooks').query('select state from delivery where event_id = $1', [event.id])
  t.same(rows, [{ state: 'delivered' }])
})
