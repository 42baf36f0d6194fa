import { operations } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { webhooksBed } from '../bed.ts'
import { startReceiver, status } from '../receiver.ts'

const { bed, operator, emit, endpoint, story } = await webhooksBed(t, { WEBHOOK_BACKOFF_BASE_MS: 1 })

t.test('an endpoint that fails for five days is disabled, and the audit trail says so', async (t) => {
  const receiver = await startReceiver(t, status(500))
  const { scope } = await operator(receiver.url)
  const failed = await Promise.all([emit(scope), emit(scope), emit(scope)])
  for (const { id } of failed) await eventually(async () => (await story(id)).state === 'failed', 20_000)
  t.match(await endpoint(scope), { enabled: true, breaker: { consecutiveFailures: 24 } })

  const sql = bed.sql('webhooks')
  await sql.query(`update endpoint set failing_since = failing_since - interval '5 days'`)
  const last = await emit(scope)
  const shown = await eventually(async () => {
    const shown = await endpoint(scope)
    return !shown.enabled && shown
  })
  t.match(shown, { disabledReason: /^It failed for 5 days without one success/, pending: 0 })
  const told = await story(last.id)
  t.match(told, { state: 'withheld', attempts: 1 })
  const { rows } = await bed
    .sql('webhooks')
    .query("select actor, operation, subject, reason from audit_entry where actor = 'webhooks'")
  t.match(rows, [{ operation: 'disableWebhook', subject: `${scope.operatorId}/sandbox`, reason: shown.disabledReason }])
})

t.test('a large backlog is withheld page by page, and not in the transaction that disables', async (t) => {
  const { scope } = await operator('http://127.0.0.1:1/hook')
  const sql = bed.sql('webhooks')
  const { operatorId, brandId } = scope
  const waiting = 2_500
  await sql.query(
    `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at, next_attempt_at)
     select 'dlv_' || n, $1, 'evt_' || n, 'deposit.confirmed', $2, '', 'pending', now(), now(), now() + interval '1 hour'
     from generate_series(1, $3) n`,
    [`${operatorId}/sandbox`, brandId, waiting],
  )
  const input = { operatorId, environment: 'sandbox', reason: 'out of order' } as const
  await bed.team('alice').call(operations.webhooks.disableWebhook, { input })
  await eventually(async () => (await endpoint(scope)).pending === 0, 20_000)
  const { rows } = await sql.query(
    `select count(*)::int as withheld from delivery where brand_id = $1 and state = 'withheld' group by xmin order by 1`,
    [brandId],
  )
  t.same(rows, [{ withheld: 500 }, { withheld: 1_000 }, { withheld: 1_000 }])
})
