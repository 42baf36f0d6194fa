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
