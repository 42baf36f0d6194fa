// Operations.

import { createHash } from 'node:crypto'
import {
  type ErrorCode,
  fromMinorUnits,
  type Input,
  invalid,
  operations,
  Rejection,
  refuseUnlessSeen,
  seenOf,
  toMinorUnits,
} from '@backoffice/contracts'
import { type Approver, type Call, handle, type ReadDb, type Tools, toPage } from '@backoffice/service-runtime'
import { reasonOf, recordAction } from '@backoffice/team-access'
import type { Ledger } from '../ledger/ledger.ts'
import { unexpected } from '../ledger/posting.ts'
import { environmentOf } from '../ledger/records.ts'
import type { WinKey } from './play.ts'
import { voidedBetsMax } from './records.ts'
import { findRound, type RoundRow } from './team-records.ts'
import { teamRound } from './team-views.ts'
import { listLimits, listWaitingWins, lockLimit, lockWaitingWin, releaseHeldWin, saveLimit } from './win-records.ts'

/** Where play is about money, nobody alone decides what became of it. */
const approverIn = async (db: ReadDb, brandId: string): Promise<Approver> =>
  (await environmentOf(db, brandId)) === 'production' ? 'second person' : 'nobody'

type EndsRound = typeof operations.wallet.voidRound | typeof operations.wallet.endRound

/** @throws {Rejection} ROUND_NOT_FOUND, NOT_AS_SEEN */
async function roundAsSeen(db: ReadDb, operation: EndsRound, { roundId, seen }: Input<EndsRound>): Promise<RoundRow> {
  const round = await findRound(db, roundId)
  if (round === undefined) throw new Rejection('ROUND_NOT_FOUND')
  refuseUnlessSeen({ roundId }, seen, seenOf(operation, teamRound(round)))
  return round
}

/** Nobody has signed what the team does in a provider's name. */
const nothingSigned = createHash('sha256').digest()

/**
 * Ends a round for the team, and records who did it and why in the same transaction, under the lock of the account: there it
 * is compared once more with what was seen, since a bet may have come meanwhile.
 */
async function endAs(
  state: 'closed' | 'void',
  ledger: Ledger,
  { operation, call, tools }: { operation: EndsRound; call: Call<EndsRound>; tools: Tools['direct'] },
) {
  const { roundId, seen } = call.input
  const { providerId, brandId, playerId, currency, providerRoundId } = await roundAsSeen(
    tools.db,
    operation,
    call.input,
  )
  const reason = await reasonOf(tools.db, call)
  const message = { message: 'end', state, providerId, providerRoundId, reason, newId: tools.newId } as const
  const play = { ...message, requestId: call.requestId, bodyDigest: nothingSigned }
  const result = await ledger.post({ kind: 'play', brandId, playerId, currency, play }, async (db, reached, now) => {
    if (reached.outcome !== 'round') return
    const ended = await findRound(db, roundId)
    if (ended === undefined) throw new Rejection('ROUND_NOT_FOUND')
    refuseUnlessSeen({ roundId }, seen, seenOf(operation, teamRound({ ...ended, state: 'open' })))
    const changes = [{ field: 'state', before: 'open', after: ended.state }]
    await recordAction(db, operation, call, now, { changes })
  })
  if (result.outcome === 'not kept') throw Rejection.from(result as { code: ErrorCode })
  if (result.outcome !== 'round') throw unexpected(result, `the end of round ${roundId}`)
  return teamRound((await findRound(tools.db, roundId)) as RoundRow)
}

export const voidRound = (ledger: Ledger) =>
  handle(operations.wallet.voidRound, {
    async approval({ input }, { db }) {
      const { brandId, state, plays, won } = await roundAsSeen(db, operations.wallet.voidRound, input)
      if (state !== 'open') throw new Rejection('ROUND_NOT_OPEN', { state })
      if (won > 0n) throw new Rejection('ROUND_HAS_WINS')
      if (plays > voidedBetsMax)
        throw invalid('body', '/roundId', 'has more bets than are given back at once: close it')
      return approverIn(db, brandId)
    },
    run: (call, tools) => endAs('void', ledger, { operation: operations.wallet.voidRound, call, tools }),
  })

export const endRound = (ledger: Ledger) =>
  handle(operations.wallet.endRound, {
    async approval({ input }, { db }) {
      const { brandId, state } = await roundAsSeen(db, operations.wallet.endRound, input)
      if (state !== 'open') throw new Rejection('ROUND_NOT_OPEN', { state })
      return approverIn(db, brandId)
    },
    run: (call, tools) => endAs('closed', ledger, { operation: operations.wallet.endRound, call, tools }),
  })

/** The ids of a provider and a brand have no slash. */
const cursorOf = ({ providerId, brandId, transactionId }: WinKey): string => `${providerId}/${brandId}/${transactionId}`

function placeOf(cursor: string): WinKey {
  const [, providerId, brandId, transactionId] = /^([^/]+)\/([^/]+)\/(.+)$/.exec(cursor) ?? []
  if (providerId === undefined || brandId === undefined || transactionId === undefined)
    throw invalid('body', '/cursor', 'is not a cursor of this list')
  return { providerId, brandId, transactionId }
}

export const listHeldWins = handle(operations.wallet.listHeldWins, async ({ input }, { db }) => {
  const { cursor, limit, ...of } = input
  const after = cursor === undefined ? null : placeOf(cursor)
  return toPage(await listWaitingWins(db, { ...of, after, limit: limit + 1 }), limit, cursorOf)
})

/** @throws {Rejection} HELD_WIN_NOT_FOUND, NOT_AS_SEEN */
async function lockAsSeen(db: ReadDb, { seen, ...key }: Input<typeof operations.wallet.releaseWin>) {
  const held = await lockWaitingWin(db, key)
  if (held === undefined) throw new Rejection('HELD_WIN_NOT_FOUND')
  refuseUnlessSeen({ transactionId: key.transactionId }, seen, seenOf(operations.wallet.releaseWin, held))
  return held
}

export const releaseWin = handle(operations.wallet.releaseWin, {
  async approval({ input }, { db }) {
    return approverIn(db, (await lockAsSeen(db, input)).brandId)
  },
  async execute({ input }, { db, now, changed }) {
    const held = await lockAsSeen(db, input)
    await releaseHeldWin(db, held, now)
    changed({ field: 'releasedAt', before: null, after: now.toISOString() })
    return { ...held, releasedAt: now.toISOString() }
  },
})

/** @param maxWin where nothing else was set */
export const listWinLimits = (maxWin: bigint) =>
  handle(operations.wallet.listWinLimits, async ({ input: { cursor, limit, ...whose } }, { db }) => {
    const after = cursor === undefined ? undefined : placeOf(`${cursor}/-`)
    const limits = await listLimits(db, { ...whose, after, limit: limit + 1 })
    const shown = limits.map((one) => ({ ...one, maxWin: fromMinorUnits(one.maxWin) }))
    return {
      ...toPage(shown, limit, ({ providerId, brandId }) => `${providerId}/${brandId}`),
      otherwise: fromMinorUnits(maxWin),
    }
  })

/** @param otherwise what holds where nothing was set */
export const setWinLimit = (otherwise: bigint) => {
  const held = async (db: ReadDb, { providerId, brandId, seen }: Input<typeof operations.wallet.setWinLimit>) => {
    const maxWin = fromMinorUnits((await lockLimit(db, { providerId, brandId })) ?? otherwise)
    refuseUnlessSeen({ providerId, brandId }, seen, { maxWin })
    return maxWin
  }
  return handle(operations.wallet.setWinLimit, {
    /** A lower limit lets nothing through that was not let through before. */
    async approval({ input }, { db }) {
      const before = await held(db, input)
      return toMinorUnits(input.maxWin) > toMinorUnits(before) ? approverIn(db, input.brandId) : 'nobody'
    },
    async execute({ input }, { db, changed }) {
      const { providerId, brandId } = input
      const before = await held(db, input)
      const maxWin = toMinorUnits(input.maxWin)
      await saveLimit(db, { providerId, brandId, maxWin })
      changed({ field: 'maxWin', before, after: fromMinorUnits(maxWin) })
      return { providerId, brandId, maxWin: fromMinorUnits(maxWin) }
    },
  })
}
