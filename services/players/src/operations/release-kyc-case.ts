import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { assertNotTakenByOther, takenNow } from '../domain/taken-case.ts'
import { lockPlayers } from '../storage/players.ts'
import { findTakenCases, removeTakenCases } from '../storage/taken-cases.ts'

/** Giving back what nobody has is done already. */
export const releaseKycCase = handle(operations.players.releaseKycCase, {
  async execute({ input: { playerId }, actor }, { db, now, changed }) {
    const [player] = await lockPlayers(db, [{ playerId, brandId: null }])
    if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
    const taken = (await findTakenCases(db, [playerId])).get(playerId)
    assertNotTakenByOther(taken, actor, now)
    await removeTakenCases(db, [playerId])
    if (takenNow(taken, now) !== undefined) changed({ field: 'takenBy', before: actor, after: null })
    return { playerId, taken: null }
  },
})
