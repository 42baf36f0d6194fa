import assert from 'node:assert/strict'
import {
  defined,
  fromMinorUnits,
  type Input,
  operations,
  Rejection,
  type Reply,
  type Scope,
} from '@backoffice/contracts'
import { Batcher, batchFaultOf, type Call, handle, type ServiceContext, type Tools } from '@backoffice/service-runtime'
import { readDayDeposits } from '../games/day-deposits.ts'
import { admitDay } from '../games/play.ts'
import { admitStake, type StakeFacts, type StakingProvider } from './admission.ts'
import { type AskedStake, findProviderSession, readStakes } from './records.ts'

type StakeCall = Call<typeof operations.players.placeBet> | Call<typeof operations.players.playSpin>
type StakeInput = Input<typeof operations.wallet.stake>

/** As many stakes as one statement reads. */
const batchMax = 500
const queueMax = 5_000
/** While one statement waits for PostgreSQL, the next may be sent. */
const readsAtOnce = 2
/** Two small statements cost twice as much as one. */
const besideFrom = 8

interface WaitingStake {
  readonly stake: AskedStake
  readonly deadline: Date
}
/** Reads what stakes are judged by: those that wait together in one statement, which is sent after each has arrived. */
export type StakeReads = Batcher<WaitingStake, StakeFacts>

export const stakeReads = ({ db, timers }: Pick<ServiceContext, 'db' | 'timers'>): StakeReads =>
  new Batcher<WaitingStake, StakeFacts>({
    batchMax,
    queueMax,
    concurrency: readsAtOnce,
    besideFrom,
    ownerOf: ({ stake }) => stake.brandId,
    isExpired: ({ deadline }) => deadline.getTime() <= timers.now(),
    faultOf: batchFaultOf,
    run: (waiting) =>
      readStakes(
        db.reader,
        waiting.map(({ stake }) => stake),
      ),
  })

export const placeBet = ({ stakes }: { readonly stakes: StakeReads }) =>
  handle(operations.players.placeBet, async (call, { rpc }) => {
    const { win: _, ...result } = await judge(call, { rpc, stakes })
    return result
  })

export const playSpin = ({ stakes }: { readonly stakes: StakeReads }) =>
  handle(operations.players.playSpin, (call, { rpc }) => judge(call, { rpc, stakes }))

/**
 * Judges a stake and hands the verdict to the wallet, which alone answers: what it has decided stands, whatever holds now.
 * A repeated bet of somebody who has excluded themselves since is told that it was booked.
 * @throws {Rejection} what the wallet refuses; SERVICE_UNAVAILABLE when the verdict is not known, so that nothing is decided
 */
async function judge(
  call: StakeCall,
  { rpc, stakes }: Pick<Tools['direct'], 'rpc'> & { readonly stakes: StakeReads },
): Promise<Reply<typeof operations.wallet.stake>> {
  const { input: bet, scope, requestId, deadline } = call
  const { sessionId, playerId, gameId } = bet
  const asked = { sessionId, playerId, gameId, brandId: scope.brandId, isSandbox: scope.environment === 'sandbox' }
  const facts = await stakes.add({ stake: asked, deadline })
  let refusal = refusalOf(() => admitStake(bet, providerOf(scope), facts))
  const dailyLimit = facts.player?.dailyLimit ?? null
  let dayDeposits: bigint | null = null
  if (refusal === undefined && dailyLimit !== null) {
    const sum = await readDayDeposits(call, rpc)
    dayDeposits = sum
    refusal = refusalOf(() => admitDay({ dailyLimit, dayDeposits: sum }))
  }
  const input: StakeInput = { bet, standing: standingOf(facts, dayDeposits), ...defined({ refusedWith: refusal }) }
  return rpc.call(operations.wallet.stake, { scope, input, requestId, deadline })
}

/** What a rule throws, as the wallet keeps it. */
function refusalOf(rule: () => void): StakeInput['refusedWith'] {
  try {
    rule()
    return undefined
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    const { code, details } = error
    return { code, ...defined({ details: details && JSON.stringify(details) }) }
  }
}

/** Who the player was, for the recall of the round. */
function standingOf({ player, game }: StakeFacts, dayDeposits: bigint | null): StakeInput['standing'] {
  if (player === undefined) return null
  const { status, kycStatus, dailyLimit } = player
  return {
    ...{ status, kycStatus, dailyLimit: amountOf(dailyLimit), dayDeposits: amountOf(dayDeposits) },
    rtp: game?.rtp ?? '',
  }
}

const amountOf = (amount: bigint | null) => (amount === null ? null : fromMinorUnits(amount))

function providerOf({ provider }: Scope): StakingProvider {
  assert(provider !== undefined, 'a call of a provider names it')
  return provider
}

export const readPlaySession = handle(
  operations.players.readPlaySession,
  async ({ input: { sessionId }, scope, requestId, deadline }, { db, rpc }) => {
    const { brandId, currency } = scope
    const session = await findProviderSession(db, { sessionId, brandId, providerId: providerOf(scope).id })
    if (session === undefined) throw new Rejection('SESSION_NOT_FOUND')
    const { playerId, gameId, expiresAt, isOpen } = session
    const account = { scope, input: { playerId }, requestId, deadline }
    // Money of a withdrawal cannot be staked.
    const { withdrawable: balance } = await rpc.call(operations.wallet.readAccount, account)
    const state = isOpen ? ('open' as const) : ('expired' as const)
    return { sessionId, playerId, gameId, currency, balance, state, expiresAt: expiresAt.toISOString() }
  },
)
