import { operations, toMinorUnits } from '@backoffice/contracts'
import { type Call, handle, type PrepareTools } from '@backoffice/service-runtime'
import { anonymise, type Obligations } from '../domain/anonymity.ts'
import { forgetReferences } from '../storage/kyc-submissions.ts'
import { seePlayer } from '../storage/persons.ts'
import { findLastChange, insertChanges } from '../storage/player-changes.ts'
import { lockPlayer, requirePlayer, scopeOf, updatePlayer } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

type AnonymiseCall = Call<typeof operations.players.anonymisePlayer>

/** @param keepYears of a player in production; nothing in the sandbox is about a real person */
export const anonymisePlayer = ({ keepYears }: { readonly keepYears: number }) =>
  handle(operations.players.anonymisePlayer, {
    prepare: readObligations,

    async execute({ input: { playerId, reason }, actor }, { db, now, newId, send }, obligations) {
      const player = await lockPlayer(db, playerId)
      const years = player.environment === 'production' ? keepYears : 0
      const seen = await seePlayer(db, player)
      const isExcluded = seen.status === 'autoexcluido'
      const changed = anonymise(player, obligations, { now, newId, keepYears: years, isExcluded })
      if (changed.change === null) return teamPlayer(seen)
      await updatePlayer(db, changed.player)
      await Promise.all([forgetReferences(db, playerId), insertChanges(db, [{ ...changed, actor, reason }], now)])
      const scope = scopeOf(player)
      send({ operation: operations.payments.forgetDestinations, aggregate: playerId, scope, input: { playerId } })
      return teamPlayer(await seePlayer(db, changed.player))
    },
  })

/** Asked before the transaction. A closed player gets no new deposit, and has nothing that could be withdrawn. */
async function readObligations(
  { input, requestId, deadline }: AnonymiseCall,
  { db, rpc }: PrepareTools,
): Promise<Obligations> {
  const { playerId } = input
  const player = await requirePlayer(db.reader, playerId)
  const options = { scope: scopeOf(player), input: { playerId }, requestId, deadline }
  const [account, records, lastChangeAt] = await Promise.all([
    rpc.call(operations.wallet.readAccount, options),
    rpc.call(operations.payments.readOpenRecords, options),
    findLastChange(db.reader, playerId),
  ])
  const posted = toMinorUnits(account.available)
  const dates = [player.createdAt, lastChangeAt, new Date(account.updatedAt), new Date(records.lastChangeAt ?? 0)]
  return {
    posted,
    held: posted - toMinorUnits(account.withdrawable),
    openDeposits: records.openDeposits,
    openWithdrawals: records.openWithdrawals,
    lastChangeAt: new Date(Math.max(...dates.map(Number))),
  }
}
