import { randomUUID } from 'node:crypto'
import { allOperations, defined, type Input, type Operation, operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import {
  type Fields,
  holdWinAs,
  inputOf,
  isInputKnown,
  newDeposit,
  newOperatorOf,
  newPlayerOf,
  newWithdrawal,
  reason,
  richPlayer,
  seenWithdrawal,
  type Unseen,
  withSeen,
} from '@backoffice/test-kit'
import { deliveredEvent, proposalToEnd, setAsideEvent, stuckCredit } from './records.ts'
import type { Command, Send, World } from './world.ts'

const { gateway, players, payments, wallet, webhooks } = operations

/** The operator's own server sends a key where one is required, and the gateway makes the operation id from it. */
function senderOf(world: World, operation: Operation, input: Fields): Send {
  const { audience, http, idempotency } = operation
  if (audience === 'team') return (key) => world.team(operation, input as never, key)
  // Without a key past the gateway, which would send a new operation id each time.
  if (http === undefined || idempotency !== 'required') return (key) => world.call(operation, input as never, key)
  return (key) => world.ask(operation, input, key)
}

/** Sends a command with these fields, the others as `inputOf` makes them. */
function sent<O extends Operation>(
  operation: O,
  fields: Partial<Input<O>> | ((world: World) => Promise<Partial<Input<O>>>) = {},
  decision?: string,
): Command {
  return {
    ...{ operation, ...defined({ decision }) },
    prepare: async (world) => {
      const own: Fields = typeof fields === 'function' ? await fields(world) : fields
      const input = await inputOf(world, operation, own)
      return senderOf(world, operation, await withSeen(world.bed.team('alice'), operation, input as Unseen<O>))
    },
  }
}

const byHand: readonly Command[] = [
  {
    ...sent(gateway.createOperator),
    leaves: {
      tables: [
        ...['webhooks.endpoint', 'webhooks.secret'],
        ...['players', 'wallet', 'payments', 'webhooks'].map((service) => `${service}.brand`),
      ],
      because: 'they belong to an operator id that was never given to anybody',
    },
  },
  ...(['approve', 'reject'] as const).map((decision) =>
    sent(payments.decideWithdrawalInSandbox, { decision }, decision),
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
      const deposit = await inputOf(world, payments.createDeposit)
      const lost = randomUUID()
      return async (key) => {
        // The claim of the operation that got lost, as a gateway left it a day ago.
        await world.row(
          `insert into gateway.claim (operator_id, environment, key, token, fingerprint, operation, operation_id, expires_at)
          values ($1, 'sandbox', $2, gen_random_uuid(), '', 'createDeposit', $3, now() - interval '1 s')
          on conflict do nothing`,
          [world.scope.operatorId, key, `opn_${lost}`],
        )
        return world.ask(payments.createDeposit, deposit, key)
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
      decision,
    ),
  ),
  {
    operation: payments.endCommand,
    prepare: async (world) => {
      const depositId = await newDeposit(world, await newPlayerOf(world))
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
  sent(gateway.issueCredential),
  sent(wallet.releaseWin, async (world) => holdWinAs(world.bed.rpc, world.scope, await richPlayer(world))),
  {
    decision: 'approved by a second person',
    operation: gateway.issueCredential,
    prepare: async (world) => {
      const { operatorId, name } = await newOperatorOf(world)
      const input = { operatorId, environment: 'production', seen: { name }, reason } as const
      const approves = await world.propose(gateway.issueCredential, input)
      return (key) => world.approve(gateway.issueCredential, input, { approves, operationId: key })
    },
  },
  {
    operation: gateway.unlockTeamMember,
    prepare: async (world) => {
      const input = { member: `machine ${randomUUID()}`, reason }
      await world.team(gateway.lockTeamMember, input)
      const approves = await world.propose(gateway.unlockTeamMember, input)
      return (key) => world.approve(gateway.unlockTeamMember, input, { approves, operationId: key })
    },
  },
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

const providerId = 'prv_of_the_dying'

/** Somebody who plays. A round of theirs, with a bet that was taken unless this is the bet. */
async function newRound(world: World, isBegun: boolean) {
  await world.team(players.setGameProvider, { gameId: 'lucky-tiger', providerId, reason })
  const playerId = await richPlayer(world)
  const { id: sessionId } = await world.call(players.openGameSession, { playerId, gameId: 'lucky-tiger' })
  const round = { playerId, roundId: randomUUID(), currency: 'BRL' }
  const bet = { ...round, sessionId, gameId: 'lucky-tiger', transactionId: randomUUID(), amount: '2.00' }
  if (isBegun) await world.play(players.placeBet, bet, providerId)
  return { round, bet }
}

/** What a provider sends has no operation id: it happens once for its transaction, however often it is sent. */
const played = <O extends Operation>(
  operation: O,
  inputFor: (made: Awaited<ReturnType<typeof newRound>>, transactionId: string) => object,
): Command => ({
  operation,
  prepare: async (world) => {
    const made = await newRound(world, operation.id !== 'placeBet' && operation.id !== 'playSpin')
    return (key) => world.play(operation, inputFor(made, key) as Input<O>, providerId)
  },
})

const plays: readonly Command[] = [
  played(players.placeBet, ({ bet }, transactionId) => ({ ...bet, transactionId })),
  played(players.playSpin, ({ bet }, transactionId) => ({ ...bet, transactionId, win: '3.00' })),
  played(wallet.creditWin, ({ round }, transactionId) => ({
    ...round,
    transactionId,
    amount: '3.00',
    roundEnds: true,
  })),
  played(wallet.rollbackBet, ({ round: { currency: _, ...round }, bet }, transactionId) => ({
    ...{ ...round, transactionId, betTransactionId: bet.transactionId },
  })),
  played(wallet.closeRound, ({ round: { playerId, roundId } }) => ({ playerId, roundId })),
]

/** What `inputOf` says nothing about wants a case by hand. */
const isDerived = (operation: Operation) =>
  operation.kind === 'command' &&
  operation.audience !== 'internal' &&
  byHand.every((other) => other.operation !== operation) &&
  isInputKnown(operation)

/** Every command of the operation table that a client sends, and some of them in several ways. */
export const commands: readonly Command[] = [
  ...byHand,
  ...plays,
  ...allOperations.filter(isDerived).map((operation) => sent(operation)),
]

const movesMoney = ({ operation: { service, audience } }: Command) =>
  service === 'payments' || service === 'wallet' || audience === 'provider'

/** The money paths are tried by `npm test`, the others by `npm run proofs`. */
export const commandsByTier = {
  money: commands.filter(movesMoney),
  others: commands.filter((command) => !movesMoney(command)),
}
