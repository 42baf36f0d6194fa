import assert from 'node:assert/strict'
import {
  allOperations,
  choicesOf,
  type FieldSchema,
  type Input,
  type Operation,
  operations,
  valueSchema,
} from '@backoffice/contracts'
import {
  type Callers,
  eventually,
  type Fields,
  holdWinAs,
  inputOf,
  newDeposit,
  newPlayerOf,
  reason,
  reconcile,
  refusal,
  richPlayer,
  stakeAs,
  testBed,
  withSeen,
} from '@backoffice/test-kit'
import t from 'tap'
import { services } from '../services.ts'

const bed = await testBed(t, services)
const alice = bed.team('alice')
const { gateway, players, wallet, payments, webhooks } = operations

const { operatorId } = await alice.call(gateway.createOperator, { input: { name: 'Casa Azul' } })
const scope = await sandboxOf(operatorId)
const by: Callers = {
  call: (operation, input) => bed.rpc.call(operation, { scope, input }),
  team: (operation, input) => alice.call(operation, { input }),
}

async function sandboxOf(operatorId: string) {
  const { brands } = await alice.call(gateway.getOperator, { input: { name: operatorId } })
  const { id: brandId, currency, timeZone } = brands.find((brand) => brand.environment === 'sandbox') ?? assert.fail()
  return { operatorId, brandId, environment: 'sandbox', currency, timeZone } as const
}

/** What operations are called with that want more than `inputOf` makes. */
async function special(): Promise<Readonly<Record<string, Fields>>> {
  const endpoint = { operatorId, environment: 'sandbox', reason } as const
  await alice.call(webhooks.setWebhookUrl, { input: { ...endpoint, url: 'https://casa.example/hook' } })
  const playerId = await newPlayerOf(by)
  await by.call(players.submitKyc, { playerId, documentType: 'rg', reference: 'doc-1' })
  await by.call(players.decideKycInSandbox, { playerId, status: 'reprovado' })
  const full = await newPlayerOf(by)
  await by.team(wallet.adjustWallet, await inputOf(by, wallet.adjustWallet, { playerId: full }))
  const depositId = await newDeposit(by, full)
  await bed.sql('admin').query('update wallet.account set posted = 9223372036854775807 where owner_id = $1', [full])
  await refusal(by.call(payments.confirmDeposit, { depositId }))
  const command = "select id from payments.outbox where aggregate = $1 and kind = 'command'"
  const { rows } = await bed.sql('admin').query(command, [depositId])
  const delivery = await eventually(async () => {
    const { data } = await alice.call(webhooks.listDeliveries, { input: { operatorId, limit: 1 } })
    return data[0] ?? assert.fail()
  })
  const openRound = async () => {
    const { roundId } = await stakeAs(bed.rpc, scope, await richPlayer(by))
    const { data } = await alice.call(wallet.listRounds, { input: { roundId, limit: 1 } })
    return { roundId: data[0]?.id, reason }
  }
  return {
    voidRound: await openRound(),
    endRound: await openRound(),
    releaseWin: { ...(await holdWinAs(bed.rpc, scope, await richPlayer(by))), reason },
    decideKyc: { playerId, status: 'aprovado', reason },
    endCommand: { commandId: rows[0].id, reason },
    resendDelivery: { id: delivery.id },
    resendDeliveries: { ...endpoint, ids: [delivery.id], states: ['delivered'] },
    replayEvents: { ...endpoint, since: '2026-01-01T00:00:00.000Z' },
  }
}

/** Something else that the field may have. */
function another(schema: FieldSchema, value: unknown): unknown {
  const { type, pattern } = valueSchema(schema)
  const choices = choicesOf(valueSchema(schema)).filter((choice) => choice !== value)
  if (choices.length > 0) return choices[0]
  if (type === 'integer') return Number(value) + 1
  if (type === 'array') return ['192.0.2.9']
  const longer = `${value}x`
  if (pattern === undefined || new RegExp(pattern, 'u').test(longer)) return longer
  if (pattern.includes('43')) return 'x'.repeat(43)
  if (pattern.includes('[A-Z]')) return 'USD'
  return '77.00'
}

// Before the others: no difference but its own is expected.
await t.test('what people of the team have set is not named, and what a service sets by itself is', async (t) => {
  const environment = 'production'
  const created = { name: 'Aurora', allowedAddresses: ['192.0.2.1/24'], rateLimitPerMinute: 100 }
  const { operatorId } = await alice.call(gateway.createOperator, { input: created })
  await alice.call(gateway.createOperator, { input: { name: 'Boreal' } })
  const { key } = await bed.agreed(gateway.issueCredential, { input: { operatorId, environment, reason } })
  await bed.agreed(gateway.issueCredential, { input: { operatorId, environment, reason: 'the next one' } })
  await alice.call(gateway.revokeCredential, { input: { key } })
  await alice.call(gateway.revokeCredential, { input: { key } })
  const allowedAddresses = ['192.0.2.1/24', '198.51.100.7']
  await bed.agreed(gateway.setOperatorLimits, { input: { operatorId, allowedAddresses } })
  await alice.call(gateway.setOperatorLimits, { input: { operatorId, rateLimitPerMinute: 77 } })
  await alice.call(gateway.setReplayProtection, { input: { operatorId, replayProtection: 'on' } })
  await bed.agreed(gateway.setReplayProtection, { input: { operatorId, replayProtection: 'off' } })
  await alice.call(gateway.suspendOperator, { input: { operatorId } })
  await alice.call(gateway.activateOperator, { input: { operatorId } })
  const url = 'https://operator.example/hook'
  await bed.agreed(webhooks.setWebhookUrl, { input: { operatorId, environment, url } })
  await alice.call(webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })
  const template = 'https://operator.example/{reference}'
  for (const opens of [template, null])
    await bed.agreed(players.setDocumentUrl, { input: { operatorId, environment, template: opens, reason } })
  t.same((await reconcile(alice)).differences, [])

  await bed.sql('gateway').query(`update operator set allowed_addresses = '{}' where id = $1`, [operatorId])
  await bed.sql('webhooks').query(`update endpoint set url = 'https://evil.example' where url = $1`, [url])
  await bed.sql('players').query('update document_source set template = $1', [template])
  const of = `${operatorId}/${environment}`
  const addresses = `${operatorId} allowedAddresses`
  const { differences } = await reconcile(alice)
  t.same(differences.map(({ subject }) => subject).sort(), [addresses, `${of} template`, `${of} url`])
  t.match(
    differences.find(({ subject }) => subject === addresses),
    { actual: '[]', expected: '["192.0.2.0/24","198.51.100.7"]' },
  )
})

/** Every service declines proposals in the same way. */
const seeing = allOperations.filter(
  ({ id, service, body }) => 'seen' in body.properties && (id !== 'declineProposal' || service === 'gateway'),
)

t.test('nobody decides about something else than they were shown, in any field of any operation', async (t) => {
  const known = await special()
  for (const operation of seeing) {
    const given = (known[operation.id] ?? (await inputOf(by, operation))) as Input<Operation>
    const input = (await withSeen(alice, operation, given)) as { readonly seen: Readonly<Record<string, unknown>> }
    const fields = valueSchema(operation.body.properties.seen as FieldSchema).properties ?? {}
    for (const [name, schema] of Object.entries(fields)) {
      const seen = { ...input.seen, [name]: another(schema, input.seen[name]) }
      const lied = alice.call(operation, { input: { ...input, seen } as never })
      await t.rejects(lied, { code: 'NOT_AS_SEEN', details: { seen, held: input.seen } }, `${operation.id} ${name}`)
    }
    t.same(await withSeen(alice, operation, given), input, `${operation.id}: nothing has changed`)
    const unseen = { ...input, seen: undefined }
    t.equal(await refusal(alice.call(operation, { input: unseen as never })), 'VALIDATION_ERROR', operation.id)
  }
})

t.test('what two people do is compared when the second carries it out', async (t) => {
  const production = { operatorId, environment: 'production', url: 'https://casa.example/other', reason } as const
  const input = { ...production, seen: { url: 'https://casa.example/never' } }
  t.equal(await refusal(bed.agreed(webhooks.setWebhookUrl, { input })), 'NOT_AS_SEEN')
})
