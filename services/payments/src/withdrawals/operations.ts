import { operations, Rejection, type WithdrawalFacts } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'
import { handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { withOperatorNames } from '@backoffice/team-desk'
import { inOrder, listedPeriod, listTransitions, ofBrand, scopeOf, shownTransitions } from '../records.ts'
import {
  countQueue,
  findWithdrawals,
  listWithdrawals as list,
  listQueue,
  sumPaidAlone,
  type WithdrawalRecord,
} from './records.ts'
import { factsOf, publicWithdrawal, shownListed, shownWithdrawals, teamWithdrawal } from './views.ts'
import { payTakesTwo } from './withdrawal.ts'

export const getWithdrawal = handle(operations.payments.getWithdrawal, {
  async read(calls, { db }) {
    const ids = calls.map(({ input }) => input.withdrawalId)
    const shown = inOrder(ids, await shownWithdrawals(db, await findWithdrawals(db, ids)))
    return calls.map(({ scope }, index) => {
      const withdrawal = ofBrand(shown[index], scope.brandId)
      return withdrawal === undefined ? new Rejection('WITHDRAWAL_NOT_FOUND') : publicWithdrawal(withdrawal)
    })
  },
})

/** @param payAloneUpTo in production one person may approve and pay up to this amount, in minor units */
export const showWithdrawal = ({ payAloneUpTo }: { readonly payAloneUpTo: bigint }) =>
  handle(
    operations.payments.showWithdrawal,
    async ({ input: { withdrawalId }, caller, requestId, deadline }, { db, rpc, now }) => {
      const [withdrawal] = await shownWithdrawals(db, await findWithdrawals(db, [withdrawalId]))
      if (withdrawal === undefined) throw new Rejection('WITHDRAWAL_NOT_FOUND')
      const scope = scopeOf(withdrawal)
      const { approvedBy, approvedById, playerId } = withdrawal
      const who = approvedBy === null ? caller : { name: approvedBy, id: approvedById }
      const asked = { playerId, person: who.name, personId: who.id, isMachine: false }
      const [histories, [facts], [shown], [paid = 0n]] = await Promise.all([
        listTransitions(db, [withdrawalId]),
        factsOf(db, [withdrawal], now),
        withOperatorNames([teamWithdrawal(withdrawal)], { rpc, scope, requestId, deadline }),
        sumPaidAlone(db, [asked]),
      ])
      return {
        ...(shown as NonNullable<typeof shown>),
        facts: facts as NonNullable<typeof facts>,
        destinationSalt: withdrawal.destinationSalt,
        payTakesTwo: payTakesTwo(withdrawal, { upTo: payAloneUpTo, paid }),
        transitions: shownTransitions(histories.get(withdrawalId), withdrawal),
      }
    },
  )

export const listWithdrawals = handle(
  operations.payments.listWithdrawals,
  async ({ input, requestId, deadline }, { db, rpc, now }) => {
    const { limit, from, to, ...filter } = input
    const isOwned = filter.operatorId !== undefined || filter.playerId !== undefined
    const period = listedPeriod({ from, to }, { isOwned, now })
    const listed = await shownListed(db, await list(db, { ...filter, ...period, limit: limit + 1 }))
    const { data, nextCursor } = toPage(listed.map(teamWithdrawal), limit, ({ id }) => id)
    const scope = listed[0] && scopeOf(listed[0])
    return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
  },
)

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

export const countWithdrawalQueue = handle(operations.payments.countWithdrawalQueue, async ({ input }, { db }) => ({
  data: (await countQueue(db, input)).map(withIsoTimes),
}))
