import {
  defined,
  fromMinorUnits,
  type IdOf,
  namedPlayersMax,
  operations,
  Rejection,
  type Scope,
  type SignedCall,
  toMinorUnits,
  type WaitingStatus,
  type WithdrawalFacts,
} from '@backoffice/contracts'
import { patiently, waitAtMost } from '@backoffice/process'
import type { RpcClient } from '@backoffice/rpc'
import { handle, isPassingFault, type ReadDb, sql, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { type Asking, readSignedCall, withOperatorNames } from '@backoffice/team-access'
import { type FileOfWithdrawal, filesOf } from '../files/records.ts'
import {
  inOrder,
  listedPeriod,
  listTransitions,
  ofBrand,
  scopeOf,
  shownTransitions,
  sumsOf,
  withLastActors,
} from '../records.ts'
import { ageQueue, countQueue, findLargest, findShared, sumPaidAlone, timeDecisions } from './figures.ts'
import {
  findReserved,
  findWithdrawals,
  listWithdrawals as list,
  listQueue,
  sumWithdrawals as sum,
  sumQueue,
  type WithdrawalRecord,
} from './records.ts'
import { factsOf, publicWithdrawal, shownListed, shownWithdrawals, teamWithdrawal } from './views.ts'
import { hasEnded, payTakesTwo } from './withdrawal.ts'

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
      const asking = { rpc, scope, requestId, deadline }
      const [histories, facts, named, [paid = 0n], balance, isReserved, approval, files] = await Promise.all([
        listTransitions(db, [withdrawalId]),
        factsOf(db, [withdrawal], now),
        withOperatorNames([teamWithdrawal(withdrawal)], asking),
        sumPaidAlone(db, [asked]),
        balanceIfKnown(playerId, asking),
        isReservedIfKnown(db, withdrawal),
        withdrawal.status === 'approved' ? approvalOf(db, withdrawalId) : null,
        filesOf(db, [withdrawalId]),
      ])
      const [shown] = await withPlayerNames(named, facts, asking)
      return {
        ...(shown as NonNullable<typeof shown>),
        balance,
        ...(hasEnded(withdrawal) || withdrawal.settling ? {} : { isReserved }),
        approval,
        destinationSalt: withdrawal.destinationSalt,
        payTakesTwo: payTakesTwo(withdrawal, { upTo: payAloneUpTo, paid }),
        paymentFile: shownFile(files.get(withdrawalId)),
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
    const rows = await withLastActors(db, data)
    return { data: await withOperatorNames(rows, { rpc, scope, requestId, deadline }), nextCursor }
  },
)

export const sumWithdrawals = handle(
  operations.payments.sumWithdrawals,
  async ({ input: { from, to, queue, ...filter } }, { db, now }) => {
    if (queue !== undefined) return sumsOf(await sumQueue(db, queue, { ...filter, ...defined({ from, to }) }))
    const isOwned = filter.operatorId !== undefined || filter.playerId !== undefined
    return sumsOf(await sum(db, { ...filter, ...listedPeriod({ from, to }, { isOwned, now }) }))
  },
)

const { getPlayerStanding, readPlayerNames } = operations.players
const { readBalance } = operations.wallet

const shownFile = (file: FileOfWithdrawal | undefined) =>
  file === undefined
    ? null
    : { id: file.id, batchNumber: file.batchNumber, madeBy: file.madeBy, madeAt: file.madeAt.toISOString() }

/** For `catch`: what is shown while another service does not answer. */
const whenAway =
  <Shown>(shown: Shown) =>
  (error: unknown): Shown => {
    if (error instanceof Rejection && error.code === 'SERVICE_UNAVAILABLE') return shown
    throw error
  }

/** What is left for the rest of a case, so that it can be looked at while the wallet hangs. */
const withoutWalletMs = 5_000

async function balanceIfKnown(playerId: IdOf<'player'>, asking: Asking & { readonly scope: Scope }) {
  const { rpc, scope, requestId, deadline } = asking
  const earlier = new Date(deadline.getTime() - patiently(withoutWalletMs))
  const call = rpc.call(readBalance, { scope, input: { playerId }, requestId, deadline: earlier })
  const balance = await call.catch(whenAway(null))
  if (balance === null) return null
  const { available, withdrawable } = balance
  return { available, withdrawable, reserved: fromMinorUnits(toMinorUnits(available) - toMinorUnits(withdrawable)) }
}

/** The call by which somebody of the team approved a withdrawal, with all that it takes to verify it. */
const approvalOf = (db: ReadDb, withdrawalId: IdOf<'withdrawal'>): Promise<SignedCall | null> => {
  const approvals = sql`
    e.subject = ${withdrawalId} and e.operation = ${operations.payments.decideWithdrawal.id}
    and e.input ->> 'decision' = 'approve' order by e.at desc limit 1
  `
  return readSignedCall(db, sql`payments.audit_evidence`, approvals)
}

/** How long a case waits for the ledger's tables, which may be in another database, or locked. */
const ledgerMs = 2_000

async function isReservedIfKnown(db: ReadDb, withdrawal: WithdrawalRecord): Promise<boolean | null> {
  const isReserved = findReserved(db, [withdrawal]).then(
    (reserved) => reserved.has(withdrawal.id),
    (error) => {
      if (isPassingFault(error)) return null
      throw error
    },
  )
  return (await waitAtMost(patiently(ledgerMs), isReserved, () => {})) ?? null
}

/**
 * Adds facts to the rows of one page, and the names of all players in both, with one call of players. Their ids are enough to
 * tell them apart: players has refused a withdrawal whose brand is not that of its player, of which an id has one.
 */
async function withPlayerNames<Row extends { readonly playerId: IdOf<'player'>; readonly brandId: IdOf<'brand'> }>(
  rows: readonly Row[],
  facts: readonly WithdrawalFacts[],
  { rpc, scope, requestId, deadline }: Asking,
) {
  const known = rows.map((row, index) => ({ ...row, facts: facts[index] as WithdrawalFacts }))
  const asked = known.flatMap(({ playerId, brandId, facts: { otherPlayers } }) =>
    [playerId, ...(otherPlayers?.players ?? []).map((other) => other.playerId)].map((id) => [id, brandId] as const),
  )
  const players = [...new Map(asked)].map(([playerId, brandId]) => ({ playerId, brandId }))
  const parts = Array.from({ length: Math.ceil(players.length / namedPlayersMax) }, (_, part) =>
    players.slice(part * namedPlayersMax, (part + 1) * namedPlayersMax),
  )
  const found = await Promise.all(
    scope === undefined
      ? []
      : parts.map((part) =>
          rpc
            .call(readPlayerNames, { scope, input: { players: part }, requestId, deadline })
            .catch(whenAway({ players: [] })),
        ),
  )
  const names = new Map(found.flatMap((reply) => reply.players).map(({ playerId, name }) => [playerId, name]))
  const nameOf = (playerId: string) => names.get(playerId) ?? null
  return known.map((row) => {
    const { count = 0, players: others = [] } = row.facts.otherPlayers ?? {}
    const named = others.map(({ playerId }) => ({ playerId, playerName: nameOf(playerId) }))
    return {
      ...row,
      playerName: nameOf(row.playerId),
      facts: { ...row.facts, otherPlayers: { count, players: named } },
    }
  })
}

/** @param payAloneUpTo in production one person may approve and pay up to this amount, in minor units */
export const withdrawalQueue = ({ payAloneUpTo: upTo }: { readonly payAloneUpTo: bigint }) =>
  handle(operations.payments.withdrawalQueue, async (call, { db, rpc, now }) => {
    const { limit, payable } = call.input
    const payer = payable === true ? { ...call.caller, upTo } : undefined
    const withdrawals = await shownWithdrawals(
      db,
      await listQueue(db, { ...call.input, ...defined({ payer }), limit: limit + 1 }),
    )
    const { data, nextCursor } = toPage(withdrawals.map(teamWithdrawal), limit, ({ id }) => id)
    const onPage = withdrawals.slice(0, data.length)
    const players = new Map(onPage.map((withdrawal) => [withdrawal.playerId, withdrawal]))
    const known = new Map<string, Awaited<ReturnType<typeof readPlayer>>>()
    const { requestId, deadline } = call
    const scope = withdrawals[0] && scopeOf(withdrawals[0])
    const asking = { rpc, scope, requestId, deadline }
    const [named, files] = await Promise.all([
      factsOf(db, onPage, now).then(async (facts) =>
        withPlayerNames(await withOperatorNames(data, asking), facts, asking),
      ),
      filesOf(
        db,
        data.map(({ id }) => id),
      ),
      eachOf([...players.values()], async (withdrawal) => {
        known.set(withdrawal.playerId, await readPlayer(rpc, withdrawal, call))
      }),
    ])
    return {
      data: named.flatMap((withdrawal) => {
        const player = known.get(withdrawal.playerId)
        const paymentFile = shownFile(files.get(withdrawal.id))
        return player === undefined ? [] : [{ ...withdrawal, ...player, paymentFile }]
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

export const ageWithdrawalQueue = handle(operations.payments.ageWithdrawalQueue, async ({ input }, { db, now }) => ({
  data: (await ageQueue(db, input.environment, now)).map((row) => ({
    ...row,
    amount: fromMinorUnits(BigInt(row.amount)),
  })),
}))

export const listOddWithdrawals = handle(operations.payments.listOddWithdrawals, async (call, { db, rpc, now }) => {
  const { environment } = call.input
  const [ids, shared] = await Promise.all([findLargest(db, environment), findShared(db, environment)])
  const found = await shownWithdrawals(db, await findWithdrawals(db, ids))
  const largest = inOrder(ids, found).flatMap((one) => (one === undefined || hasEnded(one) ? [] : [one]))
  const { requestId, deadline } = call
  const asking = { rpc, scope: largest[0] && scopeOf(largest[0]), requestId, deadline }
  const facts = await factsOf(db, largest, now)
  const rows = await withOperatorNames(largest.map(teamWithdrawal), asking)
  const named = await withPlayerNames(rows, facts, asking)
  return {
    data: named.map(({ id, playerId, playerName, operatorId, operatorName, amount, currency, createdAt, ...row }) => ({
      ...{ id, playerId, playerName, operatorId, operatorName, amount, currency, createdAt },
      status: row.status as WaitingStatus,
      firstWithdrawal: row.facts.firstWithdrawal,
    })),
    shared: shared.map((row) => ({ ...row, amount: fromMinorUnits(BigInt(row.amount)) })),
  }
})

export const timeWithdrawalDecisions = handle(operations.payments.timeWithdrawalDecisions, timeDecisions)

export const countWithdrawalQueue = handle(operations.payments.countWithdrawalQueue, async ({ input }, { db }) => ({
  data: (await countQueue(db, input)).map(withIsoTimes),
}))
