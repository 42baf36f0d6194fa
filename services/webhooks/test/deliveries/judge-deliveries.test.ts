import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { newId } from '@backoffice/process'
import { purge, runtimeRetentions } from '@backoffice/service-runtime/testing'
import { eventually, holdOpen, newPlayer, startReceiver, testBed, verifies } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { deliveryJudgement, forgetFound, judgeEvents } from '../../src/deliveries/upkeep.ts'
import { webhooks } from '../../src/service.ts'

const { provisionWebhook, setWebhookUrl } = operations.webhooks

const bed = await testBed(t, { players, wallet, payments, webhooks })
const { db } = bed.services.webhooks
const scope = bed.scope()
const sql = bed.sql('webhooks')
const admin = bed.sql('admin')

const judge = () => db.transaction((tx) => judgeEvents(tx, 'payments'))
await judge()

const call = <O extends Parameters<typeof bed.rpc.call>[0]>(
  operation: O,
  input: Parameters<typeof bed.rpc.call<O>>[1]['input'],
  of = scope,
) => bed.rpc.call(operation, { scope: of, input, operationId: randomUUID() })

const { id: playerId } = await call(operations.players.registerPlayer, newPlayer())

/** Confirms a deposit. @returns the id of its event, once it has a delivery */
async function confirmedEvent(): Promise<string> {
  const money = { amount: '10.00', currency: 'BRL', method: 'pix' }
  const deposit = await call(operations.payments.createDeposit, { playerId, externalReference: randomUUID(), ...money })
  await call(operations.payments.confirmDeposit, { depositId: deposit.id })
  const found = () =>
    admin.query(
      `select d.event_id from webhooks.delivery d join payments.published_event p on p.id = d.event_id
       where p.message #>> '{event,data,id}' = $1`,
      [deposit.id],
    )
  await eventually(async () => (await found()).rowCount === 1)
  return (await found()).rows[0].event_id
}

/** Everything was published as long ago as that. */
const pass = (minutes: number) =>
  Promise.all(
    ['payments.published_event', 'webhooks.judged_event'].map((table) =>
      admin.query(`update ${table} set published_at = published_at - make_interval(mins => $1)`, [minutes]),
    ),
  )

async function measured() {
  const gauges = await deliveryJudgement(db).read()
  const ofPayments = (name: keyof typeof gauges) =>
    gauges[name]?.find(({ attributes }) => attributes?.publisher === 'payments')?.value
  return {
    missing: ofPayments('backoffice.deliveries.missing'),
    unjudged: ofPayments('backoffice.deliveries.unjudged_seconds') ?? Number.NaN,
  }
}

t.test('events of a sandbox journey arrive signed, once each', async (t) => {
  const scope = bed.scope({ operatorId: 'op_journey', brandId: 'brd_journey' })
  const { operatorId, environment } = scope
  const receiver = await startReceiver(t)
  const { webhookSecret } = await bed.rpc.call(provisionWebhook, { scope, input: { operatorName: 'Acme' } })
  await bed.team('alice').call(setWebhookUrl, { input: { operatorId, environment, url: receiver.url } })
  /** Makes a change, and waits for the event that tells of it. */
  const changing = async (operation: Parameters<typeof call>[0], input: object) => {
    const before = receiver.received.length
    await call(operation, input as never, scope)
    await eventually(() => receiver.received.length > before)
  }
  const { id: playerId } = await call(operations.players.registerPlayer, newPlayer(), scope)
  await changing(operations.players.decideKycInSandbox, { playerId, status: 'aprovado' })
  const money = { currency: 'BRL', method: 'pix' }
  const asked = { playerId, amount: '150.00', externalReference: randomUUID(), ...money }
  const { id: depositId } = await call(operations.payments.createDeposit, asked, scope)
  await changing(operations.payments.confirmDeposit, { depositId })
  const wanted = { playerId, amount: '40.00', destination: 'ana', ...money }
  const { id: withdrawalId } = await call(operations.payments.requestWithdrawal, wanted, scope)
  for (const decision of ['approve', 'pay'])
    await changing(operations.payments.decideWithdrawalInSandbox, { withdrawalId, decision })

  t.equal(new Set(receiver.received.map(({ id }) => id)).size, 4)
  for (const delivery of receiver.received) if (!verifies(delivery, webhookSecret ?? '')) t.fail('a signature is wrong')
  const told = receiver.received.map(({ body }) => JSON.parse(body))
  t.match(told, [
    { type: 'kyc.status_changed', environment, data: { kycStatus: 'aprovado', previousStatus: 'nao_iniciado' } },
    { type: 'deposit.confirmed', data: { amount: '150.00', status: 'confirmed', previousStatus: 'pending' } },
    { type: 'withdrawal.status_changed', data: { status: 'approved', previousStatus: 'under_review' } },
    { type: 'withdrawal.status_changed', data: { status: 'paid', previousStatus: 'approved' } },
  ])
})

t.test('the role of the service deletes no delivery that has not ended, or has not been kept', async (t) => {
  await confirmedEvent()
  await t.rejects(sql.query('delete from delivery'), /append-only: DELETE on webhooks.delivery/)
})

t.test('a delivery that vanishes is named five minutes after its event, until it is there again', async (t) => {
  const [lost, kept] = [await confirmedEvent(), await confirmedEvent()]
  const { rows } = await sql.query('select to_json(d) as row from delivery d where event_id = $1', [lost])
  // With the rights of the role alone, past its trigger.
  await sql.query(
    `update delivery set state = 'delivered', next_attempt_at = null, finished_at = '2020-01-01' where event_id = $1`,
    [lost],
  )
  await sql.query('delete from delivery where event_id = $1', [lost])

  await pass(4)
  t.same(await judge(), { missing: [], isMore: false }, 'it may still be on its way')
  t.match(await measured(), { missing: 0 })
  await pass(1)
  t.same(await judge(), { missing: [lost], isMore: false }, `and not ${kept}`)
  t.same(await judge(), { missing: [], isMore: false }, 'once')
  await db.transaction(forgetFound)
  const after = await measured()
  t.equal(after.missing, 1)
  t.ok(after.unjudged >= 300 && after.unjudged < 420, `looked at until ${after.unjudged} s ago`)

  await admin.query('insert into webhooks.delivery select (json_populate_record(null::webhooks.delivery, $1)).*', [
    JSON.stringify(rows[0].row),
  ])
  await db.transaction(forgetFound)
  t.match(await measured(), { missing: 0 })
})

t.test('nothing is passed over while another replica looks, or once very many are missing', async (t) => {
  const first = await measured()
  await pass(60)
  const { rollback } = await holdOpen(sql, "select from judged_event where service = 'payments' for update")
  t.same(await judge(), { missing: [], isMore: false })
  await rollback()
  t.ok((await measured()).unjudged > first.unjudged + 3_500, 'nobody who takes an hour goes unnoticed')

  await sql.query(
    `insert into missing_delivery select 'evt_' || n, 'payments', now(), now() from generate_series(1, 1000) n`,
  )
  await judge()
  t.ok((await measured()).unjudged > first.unjudged + 3_500, 'the next are looked at when these have come')
  await sql.query('delete from missing_delivery')
  await judge()
  t.ok((await measured()).unjudged < 420)
})

t.test('what was published in a week without webhooks, and dropped by a small stream, is kept and comes', async (t) => {
  const first = await confirmedEvent()
  const ids = Array.from({ length: 250 }, () => newId('evt'))
  await admin.query(
    `insert into payments.published_event (published_at, id, message)
     select now() - interval '7 days' + n * interval '40 minutes', u.id, jsonb_set(message::jsonb, '{event,id}', to_jsonb(u.id))
     from payments.published_event e, unnest($2::text[]) with ordinality u (id, n) where e.id = $1`,
    [first, ids],
  )
  await admin.query(
    "update webhooks.judged_event set published_at = now() - interval '8 days' where service = 'payments'",
  )
  const log = runtimeRetentions.find(({ table }) => table === 'published_event')
  if (log === undefined) throw new Error('no retention of published events')
  let service = bed.services.payments
  const purged = async () => (await purge(service, log)) + (await purge(service, log, 0))
  t.equal(await purged(), 0, 'webhooks has not looked for it')
  t.same(new Set((await judge()).missing), new Set(ids))
  t.equal(await purged(), 0, 'webhooks has not found it')

  for (const _ of ['published again', 'and again, as by another replica']) {
    await service.drain()
    service = await bed.start('payments')
  }
  const came = () => sql.query('select event_id from delivery where event_id = any($1)', [ids])
  await eventually(async () => (await came()).rowCount === ids.length)
  await db.transaction(forgetFound)
  t.match(await measured(), { missing: 0 })
  t.ok((await purged()) > 100, 'then the clock decides')
})
