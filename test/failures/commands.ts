import { randomUUID } from 'node:crypto'
import { apiVersion, eventSubject, events, type Input, type Operation, operations } from '@backoffice/contracts'
import { newId } from '@backoffice/service-runtime/internal'
import { inputDigest } from '@backoffice/team-identity'
import type { World } from './world.ts'

/** Sends a command; the same key again is the same command. */
// biome-ignore lint/suspicious/noExplicitAny: what it replies depends on the operation
export type Send = (key: string) => Promise<any>

/** A command that is sent while services die. */
export interface Command {
  readonly operation: Operation
  /** What it does, where one operation does several things. */
  readonly decision?: string
  /** Makes what the command needs. */
  readonly prepare: (world: World) => Promise<Send>
  /** Tables in which a death may leave rows that nobody ever uses, and why that is no harm. */
  readonly leaves?: { readonly tables: readonly string[]; readonly because: string }
}

const { gateway, players, wallet, payments, webhooks } = operations
const reason = 'a test'
const person = { name: 'Ana Souza', email: 'ana@example.com', cpf: '529.982.247-25', birthDate: '1990-05-17' }
const pix = { currency: 'BRL', method: 'pix' }

async function newPlayer(world: World): Promise<string> {
  return (await world.call(players.registerPlayer, { externalId: randomUUID(), ...person })).id
}

const rich = new WeakMap<World, Promise<string>>()

/** One player for all who need nothing but an approved identity and money: of that there is enough. */
function richPlayer(world: World): Promise<string> {
  const known = rich.get(world) ?? makeRichPlayer(world)
  rich.set(world, known)
  return known
}

async function makeRichPlayer(world: World): Promise<string> {
  const playerId = await newPlayer(world)
  await world.team(players.decideKyc, { playerId, status: 'aprovado', reason })
  await world.team(wallet.adjustWallet, { playerId, amount: '100000.00', reference: randomUUID(), reason })
  return playerId
}

async function newDeposit(world: World): Promise<string> {
  const input = { playerId: await richPlayer(world), amount: '10.00', externalReference: randomUUID(), ...pix }
  return (await world.call(payments.createDeposit, input)).id
}

async function newWithdrawal(world: World, { approved = false } = {}): Promise<string> {
  const input = { playerId: await richPlayer(world), amount: '4.00', destination: 'ana@example.com', ...pix }
  const { id } = await world.call(payments.requestWithdrawal, input)
  if (approved) await world.team(payments.decideWithdrawal, { withdrawalId: id, decision: 'approve' })
  return id
}

async function newOperator(world: World) {
  const { operatorId, sandbox } = await world.team(gateway.createOperator, { name: randomUUID() })
  return { operatorId: operatorId as string, key: sandbox.key as string, environment: 'sandbox' as const }
}

/** With a webhook URL of its own. */
async function newEndpoint(world: World) {
  const { operatorId, environment } = await newOperator(world)
  await world.team(webhooks.setWebhookUrl, { operatorId, environment, url: 'http://127.0.0.1:9/hook' })
  return { operatorId, environment }
}

/** An event that the operator has received. */
async function deliveredEvent(world: World) {
  const since = new Date().toISOString()
  await world.call(payments.confirmDeposit, { depositId: await newDeposit(world) })
  await world.settle()
  const { id } = await world.row('select id from webhooks.delivery order by event_created_at desc, id desc limit 1')
  return { id: id as string, since }
}

/** An event of the operator that webhooks could not handle when it came. */
async function setAsideEvent(world: World): Promise<void> {
  const { operatorId, brandId, environment } = world.scope
  const type = 'deposit.confirmed'
  const createdAt = new Date().toISOString()
  const event = {
    id: newId('evt'),
    type,
    apiVersion,
    environment,
    operatorId,
    brandId,
    createdAt,
    data: events[type].example,
  }
  await world.row(
    `insert into webhooks.set_aside_message (consumer, subject, payload, fault, set_aside_at)
    values ('schedule-delivery', $1, $2, 'a test', now())`,
    [eventSubject(type), JSON.stringify(event)],
  )
}

/**
 * A confirmed deposit as a release with a bug could leave it: its credit names a currency that is not the account's, so the
 * wallet refuses it for ever. The relay tries it again in an hour.
 */
async function stuckCredit(world: World, { depositId, id }: { readonly depositId: string; readonly id: string }) {
  // Not as the team, whose reads are recorded: payments is to die later than here.
  const { rows } = await world.bed
    .sql('admin')
    .query('select player_id, (amount / 100.0)::numeric(20, 2)::text as amount from payments.deposit where id = $1', [
      depositId,
    ])
  const { player_id: playerId, amount } = rows[0]
  const context = { requestId: newId('req') }
  const input = { playerId, depositId, amount, effectiveAt: new Date().toISOString() }
  const command = { context, scope: { ...world.scope, currency: 'USD' }, input }
  const { operatorId, brandId, environment } = world.scope
  const data = { playerId, status: 'confirmed', amount, version: 2 }
  const event = { id: newId('evt'), type: 'deposit.confirmed', apiVersion, environment, operatorId, brandId, data }
  await world.row(
    `with confirmed as (
      update payments.deposit set status = 'confirmed', version = 2, confirmed_at = now() where id = $1
    ), step as (
      insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
      values ($1, 2, 'pending', 'confirmed', now(), 'operator', $2, $3)
    ), known as (
      insert into payments.operation (operation_id, name, reply, created_at) values ($3, 'confirmDeposit', '{"body":{}}', now())
    )
    insert into payments.outbox (id, aggregate, aggregate_seq, kind, name, message, operation_id, created_at, leased_until)
    values ($3, $1, 1, 'command', 'wallet.creditAccount', $4, $3, now(), now() + interval '1 hour'),
      ($5, $1, 2, 'event', 'deposit.confirmed', $6, $3, now(), now() + interval '1 hour')`,
    [depositId, operatorId, id, JSON.stringify(command), event.id, JSON.stringify({ context, event })],
  )
}

/** What alice proposed a moment ago. Written by hand, since what dies here is the approval alone. @returns its id */
async function proposalToEnd(world: World, input: Input<typeof payments.endCommand>): Promise<string> {
  const { reason: why, ...proposed } = input
  const id = newId('prp')
  await world.row(
    `with proposed as (
      insert into payments.team_proposal (id, operation, fingerprint, input, reason, proposed_by, proposed_at, expires_at, operation_id)
      values ($1, 'endCommand', $2, $3, $4, 'alice', now(), now() + interval '1 hour', $1)
    )
    insert into payments.audit_entry (id, at, actor, operation, operation_id, subject, reason, input, outcome)
    values ($1, now(), 'alice', 'endCommand', $1, $5, $4, $3, 'AWAITS_APPROVAL')`,
    [id, inputDigest(['endCommand', proposed]), JSON.stringify(proposed), why, input.commandId],
  )
  return id
}

export const commands: readonly Command[] = [
  // Operators, over HTTP where a key is required.
  {
    operation: players.registerPlayer,
    prepare: async (world) => {
      const body = { externalId: randomUUID(), ...person }
      return (key) => world.post('/players', body, key)
    },
  },
  {
    operation: players.submitKyc,
    prepare: async (world) => {
      const path = `/players/${await newPlayer(world)}/kyc/submissions`
      return (key) => world.post(path, { documentType: 'rg', reference: 'doc-1' }, key)
    },
  },
  {
    operation: payments.createDeposit,
    prepare: async (world) => {
      const path = `/players/${await newPlayer(world)}/deposits`
      const body = { amount: '10.00', externalReference: randomUUID(), ...pix }
      return (key) => world.post(path, body, key)
    },
  },
  {
    operation: payments.confirmDeposit,
    prepare: async (world) => {
      const path = `/deposits/${await newDeposit(world)}/confirm`
      return (key) => world.post(path, {}, key)
    },
  },
  {
    operation: payments.failDeposit,
    prepare: async (world) => {
      const path = `/deposits/${await newDeposit(world)}/fail`
      return (key) => world.post(path, {}, key)
    },
  },
  {
    operation: payments.requestWithdrawal,
    prepare: async (world) => {
      const path = `/players/${await richPlayer(world)}/withdrawals`
      return (key) => world.post(path, { amount: '4.00', destination: 'ana@example.com', ...pix }, key)
    },
  },
  {
    operation: payments.cancelWithdrawal,
    prepare: async (world) => {
      const path = `/withdrawals/${await newWithdrawal(world)}/cancel`
      return (key) => world.post(path, {}, key)
    },
  },
  // Operators, where the gateway sends a new operation id each time. Here it is the same.
  {
    operation: players.openGameSession,
    prepare: async (world) => {
      const input = { playerId: await richPlayer(world), gameId: 'fortune-reels' }
      return async (key) => {
        try {
          await world.call(players.openGameSession, input, key)
        } catch (error) {
          // Its reply is not kept. Whoever asks again after the effect is told so, and opens another session.
          if (!(await world.isWithoutReply('players', key))) throw error
        }
      }
    },
  },
  {
    operation: players.decideKycInSandbox,
    prepare: async (world) => {
      const input = { playerId: await newPlayer(world), status: 'aprovado' as const }
      return (key) => world.call(players.decideKycInSandbox, input, key)
    },
  },
  ...(['approve', 'reject'] as const).map(
    (decision): Command => ({
      operation: payments.decideWithdrawalInSandbox,
      decision,
      prepare: async (world) => {
        const input = { withdrawalId: await newWithdrawal(world), decision }
        return (key) => world.call(payments.decideWithdrawalInSandbox, input, key)
      },
    }),
  ),
  // The team.
  ...(['pay', 'fail'] as const).map(
    (decision): Command => ({
      operation: payments.decideWithdrawal,
      decision,
      prepare: async (world) => {
        const input = { withdrawalId: await newWithdrawal(world, { approved: true }), decision }
        return (key) => world.team(payments.decideWithdrawal, input, key)
      },
    }),
  ),
  {
    operation: payments.endCommand,
    prepare: async (world) => {
      const depositId = await newDeposit(world)
      const commandId = newId('cmd')
      const input = { commandId, reason }
      let made: Promise<string> | undefined
      return async (key) => {
        // Not before: this is something that is stuck.
        made ??= stuckCredit(world, { depositId, id: commandId }).then(() => proposalToEnd(world, input))
        return world.approve(payments.endCommand, input, { approves: await made, operationId: key })
      }
    },
  },
  {
    operation: wallet.adjustWallet,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(wallet.adjustWallet, { playerId, amount: '1.00', reference: key, reason }, key)
    },
  },
  {
    operation: wallet.reverseTransfer,
    prepare: async (world) => {
      const input = { playerId: await newPlayer(world), amount: '1.00', reference: randomUUID(), reason }
      const { transferId } = await world.team(wallet.adjustWallet, input)
      return (key) => world.team(wallet.reverseTransfer, { transferId, reference: key, reason }, key)
    },
  },
  {
    operation: players.decideKyc,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.decideKyc, { playerId, status: 'aprovado', reason }, key)
    },
  },
  {
    operation: players.takeKycCase,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.takeKycCase, { playerId }, key)
    },
  },
  {
    operation: players.releaseKycCase,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      await world.team(players.takeKycCase, { playerId })
      return (key) => world.team(players.releaseKycCase, { playerId }, key)
    },
  },
  {
    operation: players.setPlayerStatus,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.setPlayerStatus, { playerId, status: 'bloqueado', reason }, key)
    },
  },
  {
    operation: players.selfExcludePlayer,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.selfExcludePlayer, { playerId, until: null }, key)
    },
  },
  {
    operation: players.setDailyLimit,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.setDailyLimit, { playerId, dailyDepositLimit: '50.00' }, key)
    },
  },
  {
    operation: players.anonymisePlayer,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      await world.team(players.setPlayerStatus, { playerId, status: 'encerrado', reason })
      return (key) => world.team(players.anonymisePlayer, { playerId, reason }, key)
    },
  },
  {
    operation: players.setDocumentUrl,
    prepare: async (world) => {
      const template = 'https://kyc.example/documents/{reference}'
      const input = { operatorId: `op_${randomUUID()}`, environment: 'sandbox' as const, template, reason }
      return (key) => world.team(players.setDocumentUrl, input, key)
    },
  },
  {
    operation: players.setGameAvailability,
    prepare: async (world) => {
      const input = { brandId: `brd_${randomUUID()}`, gameId: 'lucky-tiger', available: false, reason }
      return (key) => world.team(players.setGameAvailability, input, key)
    },
  },
  {
    operation: gateway.createOperator,
    leaves: {
      tables: ['webhooks.endpoint', 'webhooks.secret'],
      because: 'they belong to an operator id that was never given to anybody',
    },
    prepare: async (world) => {
      const input = { name: randomUUID() }
      return (key) => world.team(gateway.createOperator, input, key)
    },
  },
  {
    operation: gateway.suspendOperator,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      return (key) => world.team(gateway.suspendOperator, { operatorId, reason }, key)
    },
  },
  {
    operation: gateway.activateOperator,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      await world.team(gateway.suspendOperator, { operatorId, reason })
      return (key) => world.team(gateway.activateOperator, { operatorId, reason }, key)
    },
  },
  {
    operation: gateway.setOperatorLimits,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      return (key) => world.team(gateway.setOperatorLimits, { operatorId, rateLimitPerMinute: 7, reason }, key)
    },
  },
  {
    operation: gateway.setReplayProtection,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      return (key) => world.team(gateway.setReplayProtection, { operatorId, replayProtection: 'on', reason }, key)
    },
  },
  {
    operation: gateway.issueCredential,
    prepare: async (world) => {
      const { operatorId, environment } = await newOperator(world)
      return (key) => world.team(gateway.issueCredential, { operatorId, environment, reason }, key)
    },
  },
  {
    decision: 'approved by a second person',
    operation: gateway.issueCredential,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      const input = { operatorId, environment: 'production', reason } as const
      const approves = await world.propose(gateway.issueCredential, input)
      return (key) => world.approve(gateway.issueCredential, input, { approves, operationId: key })
    },
  },
  {
    operation: gateway.declineProposal,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      const input = { operatorId, environment: 'production', reason } as const
      const proposalId = await world.propose(gateway.issueCredential, input)
      return (key) => world.team(gateway.declineProposal, { proposalId, reason }, key)
    },
  },
  {
    operation: gateway.revokeCredential,
    prepare: async (world) => {
      const { operatorId, environment, key: credential } = await newOperator(world)
      await world.team(gateway.issueCredential, { operatorId, environment })
      return (key) => world.team(gateway.revokeCredential, { key: credential, reason }, key)
    },
  },
  {
    operation: gateway.rewrapSecrets,
    prepare: async (world) => (key) => world.team(gateway.rewrapSecrets, { reason }, key),
  },
  {
    operation: webhooks.setWebhookUrl,
    prepare: async (world) => {
      const { operatorId, environment } = await newOperator(world)
      const input = { operatorId, environment, url: 'http://127.0.0.1:9/hook' }
      return (key) => world.team(webhooks.setWebhookUrl, input, key)
    },
  },
  {
    operation: webhooks.rotateWebhookSecret,
    prepare: async (world) => {
      const input = await newEndpoint(world)
      return (key) => world.team(webhooks.rotateWebhookSecret, input, key)
    },
  },
  {
    operation: webhooks.disableWebhook,
    prepare: async (world) => {
      const input = { ...(await newEndpoint(world)), reason }
      return (key) => world.team(webhooks.disableWebhook, input, key)
    },
  },
  {
    operation: webhooks.resendDelivery,
    prepare: async (world) => {
      const { id } = await deliveredEvent(world)
      return (key) => world.team(webhooks.resendDelivery, { id }, key)
    },
  },
  {
    operation: webhooks.replayEvents,
    prepare: async (world) => {
      const { since } = await deliveredEvent(world)
      const { operatorId } = world.scope
      const input = { operatorId, environment: 'sandbox' as const, since, states: ['delivered' as const] }
      return (key) => world.team(webhooks.replayEvents, input, key)
    },
  },
  {
    operation: webhooks.rerunSetAside,
    prepare: async (world) => {
      let made: Promise<void> | undefined
      return async (key) => {
        // Not before: a message that is set aside is something that is stuck.
        made ??= setAsideEvent(world)
        await made
        return world.team(webhooks.rerunSetAside, { reason }, key)
      }
    },
  },
  {
    operation: webhooks.rewrapWebhookSecrets,
    prepare: async (world) => (key) => world.team(webhooks.rewrapWebhookSecrets, { reason }, key),
  },
  // A key that has expired, and whose outcome nobody knows: the old operation is fenced before a new one begins.
  {
    operation: payments.abandonOperation,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      const path = `/players/${playerId}/deposits`
      const lost = randomUUID()
      const body = { amount: '10.00', externalReference: randomUUID(), ...pix }
      return async (key) => {
        // The claim of the operation that got lost, as a gateway left it a day ago.
        await world.row(
          `insert into gateway.claim (operator_id, environment, key, token, fingerprint, operation, operation_id, expires_at)
          values ($1, 'sandbox', $2, gen_random_uuid(), '', 'createDeposit', $3, now() - interval '1 s')
          on conflict do nothing`,
          [world.scope.operatorId, key, `opn_${lost}`],
        )
        return world.post(path, body, key)
      }
    },
  },
]
