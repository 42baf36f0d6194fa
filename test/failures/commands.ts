import { randomUUID } from 'node:crypto'
import { allOperations, type Input, type Operation, operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { seenWithdrawal, withSeen } from '@backoffice/test-kit'
import {
  deliveredEvent,
  newDeposit,
  newEndpoint,
  newOperator,
  newPerson,
  newPlayer,
  newWithdrawal,
  pix,
  proposalToEnd,
  reason,
  richPlayer,
  setAsideEvent,
  stuckCredit,
} from './records.ts'
import type { Command, Send, World } from './world.ts'

const { gateway, players, wallet, payments, webhooks } = operations
type Fields = Readonly<Record<string, unknown>>

/** What a field names is made, by the field's name. */
const made: Readonly<Record<string, (world: World) => Promise<Fields>>> = {
  playerId: async (world) => ({ playerId: await newPlayer(world) }),
  depositId: async (world) => ({ depositId: await newDeposit(world) }),
  withdrawalId: async (world) => ({ withdrawalId: await newWithdrawal(world) }),
  operatorId: async (world) => ({ operatorId: (await newOperator(world)).operatorId }),
  environment: async () => ({ environment: 'sandbox' }),
  reason: async () => ({ reason }),
  reference: async () => ({ reference: randomUUID() }),
  externalReference: async () => ({ externalReference: randomUUID() }),
  // It is looked at when the rest is there.
  seen: async () => ({}),
}

/** The operator's own server sends a key where one is required, and the gateway makes the operation id from it. */
function senderOf(world: World, operation: Operation, input: Fields): Send {
  const { audience, http, idempotency, params } = operation
  if (audience === 'team') return (key) => world.team(operation, input as never, key)
  // Without a key past the gateway, which would send a new operation id each time.
  if (http === undefined || idempotency !== 'required') return (key) => world.call(operation, input as never, key)
  const path = http.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(input[name]))
  const body = Object.entries(input).filter(([name]) => !(name in params.properties))
  return (key) => world.post(path, Object.fromEntries(body), key)
}

const exampleOf = ({ example }: Operation) => (example?.body ?? {}) as Fields
const requiredBy = ({ params, body }: Operation) => [...Object.keys(params.properties), ...(body.required ?? [])]

/** Sends a command with these fields, the others as the example has them, but for what must exist or be new. */
function sent<O extends Operation>(
  operation: O,
  fields: Partial<Input<O>> | ((world: World) => Promise<Partial<Input<O>>>) = {},
  more: Pick<Command, 'decision' | 'leaves'> = {},
): Command {
  return {
    ...{ operation, ...more },
    prepare: async (world) => {
      const own: Fields = typeof fields === 'function' ? await fields(world) : fields
      const others = []
      for (const name of requiredBy(operation)) if (!(name in own)) others.push((await made[name]?.(world)) ?? {})
      const input = Object.assign({}, exampleOf(operation), ...others, own)
      return senderOf(world, operation, await withSeen(world.bed.team('alice'), operation, input))
    },
  }
}

const byHand: readonly Command[] = [
  sent(players.registerPlayer, async () => ({ externalId: randomUUID(), ...newPerson() })),
  sent(payments.requestWithdrawal, async (world) => ({ playerId: await richPlayer(world), amount: '4.00' })),
  ...(['approve', 'reject'] as const).map((decision) =>
    sent(payments.decideWithdrawalInSandbox, { decision }, { decision }),
  ),
  {
    operation: players.openGameSession,
    prepare: async (world) => {
      const input = { playerId: await richPlayer(world), gameId: 'fortune-reels' }
      return async (key) => {
        try {
          await world.call(players.openGameSession, input, key)
        } catch (error) {
          // Its reply is never stored, so a repetition after the effect is refused, and the caller opens another session.
          if (!(await world.isWithoutReply('players', key))) throw error
        }
      }
    },
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
  ...(['pay', 'fail'] as const).map((decision) =>
    sent(
      payments.decideWithdrawal,
      async (world) => {
        const withdrawalId = await newWithdrawal(world, { approved: true })
        return { ...(await seenWithdrawal(world.bed.team('alice'), withdrawalId)), decision }
      },
      { decision },
    ),
  ),
  {
    operation: payments.endCommand,
    prepare: async (world) => {
      const depositId = await newDeposit(world, await newPlayer(world))
      const commandId = newId('cmd')
      const endIt = async () => {
        const input = { commandId, reason, seen: await stuckCredit(world, { depositId, id: commandId }) }
        return { input, approves: await proposalToEnd(world, input) }
      }
      let made: ReturnType<typeof endIt> | undefined
      return async (key) => {
        // Made when the command is first sent, because nothing may be stuck before.
        made ??= endIt()
        const { input, approves } = await made
        return world.approve(payments.endCommand, input, { approves, operationId: key })
      }
    },
  },
  sent(wallet.adjustWallet, { amount: '1.00' }),
  sent(wallet.reverseTransfer, async (world) => {
    const input = { playerId: await newPlayer(world), amount: '1.00', reference: randomUUID(), reason }
    const { playerId } = input
    return { playerId, transferId: (await world.team(wallet.adjustWallet, input)).transferId }
  }),
  sent(players.decideKyc, { submission: null, status: 'aprovado' }),
  sent(players.releaseKycCase, async (world) => {
    const playerId = await newPlayer(world)
    await world.team(players.takeKycCase, { playerId })
    return { playerId }
  }),
  sent(players.setPlayerStatus, { status: 'bloqueado' }),
  sent(players.selfExcludePlayer, { until: null }),
  sent(players.setDailyLimit, { dailyDepositLimit: '50.00' }),
  sent(players.anonymisePlayer, async (world) => {
    const playerId = await newPlayer(world)
    await world.team(players.setPlayerStatus, { playerId, status: 'encerrado', reason })
    return { playerId }
  }),
  sent(players.setDocumentUrl, { template: 'https://kyc.example/documents/{reference}' }),
  sent(players.setGameAvailability, async () => {
    return { brandId: `brd_${randomUUID()}`, gameId: 'lucky-tiger', available: false }
  }),
  sent(gateway.createOperator, async () => ({ name: randomUUID() }), {
    leaves: {
      tables: [
        ...['webhooks.endpoint', 'webhooks.secret'],
        ...['players', 'wallet', 'payments', 'webhooks'].map((service) => `${service}.brand`),
      ],
      because: 'they belong to an operator id that was never given to anybody',
    },
  }),
  sent(gateway.activateOperator, async (world) => {
    const { operatorId } = await newOperator(world)
    await world.team(gateway.suspendOperator, { operatorId, reason })
    return { operatorId }
  }),
  sent(gateway.setOperatorLimits, { rateLimitPerMinute: 7 }),
  sent(gateway.setReplayProtection, { replayProtection: 'on' }),
  sent(gateway.issueCredential),
  {
    decision: 'approved by a second person',
    operation: gateway.issueCredential,
    prepare: async (world) => {
      const { operatorId, name } = await newOperator(world)
      const input = { operatorId, environment: 'production', seen: { name }, reason } as const
      const approves = await world.propose(gateway.issueCredential, input)
      return (key) => world.approve(gateway.issueCredential, input, { approves, operationId: key })
    },
  },
  // Of nobody who calls here.
  sent(gateway.endSession, async () => ({ session: randomUUID() })),
  sent(gateway.lockTeamMember, async () => ({ member: `machine ${randomUUID()}` })),
  {
    operation: gateway.unlockTeamMember,
    prepare: async (world) => {
      const input = { member: `machine ${randomUUID()}`, reason }
      await world.team(gateway.lockTeamMember, input)
      const approves = await world.propose(gateway.unlockTeamMember, input)
      return (key) => world.approve(gateway.unlockTeamMember, input, { approves, operationId: key })
    },
  },
  sent(gateway.declineProposal, async (world) => {
    const { operatorId } = await newOperator(world)
    const input = { operatorId, environment: 'production', reason } as const
    return { proposalId: await world.propose(gateway.issueCredential, input) }
  }),
  sent(gateway.revokeCredential, async (world) => {
    const { operatorId, environment, key } = await newOperator(world)
    await world.team(gateway.issueCredential, { operatorId, environment })
    return { key }
  }),
  sent(webhooks.setWebhookUrl, { url: 'http://127.0.0.1:9/hook' }),
  sent(webhooks.rotateWebhookSecret, newEndpoint),
  sent(webhooks.disableWebhook, newEndpoint),
  sent(webhooks.resendDelivery, async (world) => ({ id: (await deliveredEvent(world)).id })),
  sent(webhooks.resendDeliveries, async (world) => {
    const ids = [(await deliveredEvent(world)).id]
    return { operatorId: world.scope.operatorId, environment: 'sandbox' as const, ids, states: ['delivered' as const] }
  }),
  sent(webhooks.replayEvents, async (world) => {
    const { since } = await deliveredEvent(world)
    const { operatorId } = world.scope
    return { operatorId, environment: 'sandbox' as const, since, states: ['delivered' as const] }
  }),
  {
    operation: webhooks.rerunSetAside,
    prepare: async (world) => {
      let made: Promise<void> | undefined
      return async (key) => {
        // Set aside when the command is first sent, because nothing may be stuck before.
        made ??= setAsideEvent(world)
        await made
        return world.team(webhooks.rerunSetAside, { reason }, key)
      }
    },
  },
]

/** What a name or an example says nothing about wants a case by hand. */
const isDerived = (operation: Operation) =>
  operation.kind === 'command' &&
  operation.audience !== 'internal' &&
  byHand.every((other) => other.operation !== operation) &&
  requiredBy(operation).every((name) => name in made || name in exampleOf(operation))

/** Every command of the operation table that a client sends, and some of them in several ways. */
export const commands: readonly Command[] = [
  ...byHand,
  ...allOperations.filter(isDerived).map((operation) => sent(operation)),
]

const movesMoney = ({ operation: { service } }: Command) => service === 'payments' || service === 'wallet'

/** The money paths are tried by `npm test`, the others by `npm run proofs`. */
export const commandsByTier = {
  money: commands.filter(movesMoney),
  others: commands.filter((command) => !movesMoney(command)),
}
