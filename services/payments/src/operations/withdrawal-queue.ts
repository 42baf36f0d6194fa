import { operations, type WithdrawalFacts } from '@backoffice/contracts'
import { handle, type RpcClient, toPage, withOperatorNames } from '@backoffice/service-runtime'
import { scopeOf } from '../storage/scope.ts'
import { listQueue, type WithdrawalRecord } from '../storage/withdrawals.ts'
import { shownWithdrawals } from '../views/shown-withdrawal.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'
import { factsOf } from '../views/withdrawal-facts.ts'

const { getPlayerStanding } = operations.players
const { readBalance } = operations.wallet

export const withdrawalQueue = handle(operations.payments.withdrawalQueue, async (call, { db, rpc, now }) => {
  const { status = 'under_review', limit, ...filter } = call.input
  const withdrawals = await shownWithdrawals(db, await listQueue(db, { ...filter, status, limit: limit + 1 }))
  const { data, nextCursor } = toPage(withdrawals.map(teamWithdrawal), limit, ({ id }) => id)
  const onPage = withdrawals.slice(0, data.length)
  const players = new Map(onPage.map((withdrawal) => [withdrawal.playerId, withdrawal]))
  const known = new Map<string, Awaited<ReturnType<typeof readPlayer>>>()
  const { requestId, deadline } = call
  const scope = withdrawals[0] && scopeOf(withdrawals[0])
  const [named, facts] = await Promise.all([
    withOperatorNames(data, { rpc, scope, requestId, deadline }),
    factsOf(db, onPage, now),
    eachOf([...players.values()], async (withdrawal) => {
      known.set(withdrawal.playerId, await readPlayer(rpc, withdrawal, call))
    }),
  ])
  return {
    data: named.flatMap((withdrawal, index) => {
      const player = known.get(withdrawal.playerId)
      return player === undefined ? [] : [{ ...withdrawal, facts: facts[index] as WithdrawalFacts, ...player }]
    }),
    nextCursor,
  }
})

/** What a reviewer must know of the player before deciding. */
async function readPlayer(
  rpc: RpcClient,
  withdrawal: WithdrawalRecord,
  { requestId, deadline }: { readonly requestId: string; readonly deadline: Date },
) {
  const { playerId } = withdrawal
  const options = { scope: scopeOf(withdrawal), input: { playerId }, requestId, deadline }
  const [standing, balance] = await Promise.all([rpc.call(getPlayerStanding, options), rpc.call(readBalance, options)])
  const { status: playerStatus, kycStatus } = standing
  return { playerStatus, kycStatus, ...balance }
}

const playersAtOnceMax = 16

async function eachOf<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const workers = Array.from({ length: playersAtOnceMax }, async () => {
    for (const item of rest) await run(item)
  })
  await Promise.all(workers)
}
