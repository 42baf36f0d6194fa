import { type Operation, operations, Rejection, sandboxPlayAmounts } from '@backoffice/contracts'
import type { Timers } from '@backoffice/process'
import { LRUCache } from 'lru-cache'
import type { RouteContext } from '../http/routes.ts'

type Around = NonNullable<RouteContext['around']>

const stakes: ReadonlySet<string> = new Set([operations.players.placeBet.id, operations.players.playSpin.id])
export const isStake = ({ id }: Operation): boolean => stakes.has(id)

/**
 * Stakes of one brand that this process waits for. It is less than half of what a replica of a service takes of one brand,
 * so that a flood of bets leaves room for wins, rollbacks and closes.
 */
const stakesUnderWayMax = 400

/** Stands around what providers call. More stakes than that at once are refused, and nothing is stored of them. */
export function aroundStakes(timers: Timers): Around {
  const underWay = new Map<string, number>()
  const withFaults = sandboxFaults(timers)
  return (access, input, run) => {
    if (!isStake(access.operation)) return run()
    const { brandId } = access.credential.scope
    return withFaults(access, input, async () => {
      const others = underWay.get(brandId) ?? 0
      if (others >= stakesUnderWayMax) throw new Rejection('SERVICE_UNAVAILABLE')
      underWay.set(brandId, others + 1)
      try {
        return await run()
      } finally {
        const left = (underWay.get(brandId) ?? 1) - 1
        if (left > 0) underWay.set(brandId, left)
        else underWay.delete(brandId)
      }
    })
  }
}

const transactionsMax = 10_000
const lateByMs = 6_000

/**
 * What a provider's client must bear, shown in the sandbox by reserved amounts of a stake: on the first attempt of each
 * transaction that this process sees. A client that sends the same again gets through.
 */
function sandboxFaults(timers: Timers): Around {
  const attempted = new LRUCache<string, true>({ max: transactionsMax })
  return async ({ credential: { scope } }, { amount, transactionId }, run) => {
    const isReserved = Object.values<unknown>(sandboxPlayAmounts).includes(amount)
    const name = `${scope.provider?.id} ${scope.brandId} ${transactionId}`
    if (scope.environment !== 'sandbox' || !isReserved || attempted.has(name)) return run()
    attempted.set(name, true)
    if (amount === sandboxPlayAmounts.failsBefore) throw new Rejection('SERVICE_UNAVAILABLE')
    const reply = await run()
    if (amount === sandboxPlayAmounts.failsAfter) throw new Rejection('SERVICE_UNAVAILABLE')
    await new Promise<void>((resolve) => {
      timers.setTimeout(resolve, lateByMs)
    })
    return reply
  }
}
