import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { assertNotTakenByOther, type TakenCase, takenNow } from '../domain/taken-case.ts'
import { lockPlayers } from '../storage/players.ts'
import { findTakenCases, saveTakenCase } from '../storage/taken-cases.ts'
import { shownTakenCase } from '../views/taken-case.ts'

export const takeKycCase = handle(operations.players.takeKycCase, {
  async execute({ input, actor }, { db, now, changed }) {
    const { playerId, takeOver = false } = input
    const [player] = await lockPlayers(db, [{ playerId, brandId: null }])
    if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
    const former = (await findTakenCases(db, [playerId])).get(playerId)
    if (!takeOver) assertNotTakenByOther(former, actor, now)
    const taken: TakenCase = { playerId, takenBy: actor, takenAt: now }
    await saveTakenCase(db, taken)
    const before = takenNow(former, now)?.takenBy ?? null
    if (before !== actor) changed({ field: 'takenBy', before, after: actor })
    return { playerId, taken: shownTakenCase(taken, now) }
  },
})
