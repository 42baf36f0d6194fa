import { invalid, operations, Rejection, refuseUnlessSeen } from '@backoffice/contracts'
import { type Call, handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { withOperatorNames } from '@backoffice/team-access'
import { kycAt, submit } from '../players/player.ts'
import { lockPlayers, playerOf, readPlayers, requirePlayer, scopeOf, seePlayers } from '../players/records.ts'
import { kycDecision, saveKycChanges } from './change-kyc.ts'
import {
  ageWaitingPlayers,
  changeSource,
  countWaitingPlayers,
  findSources,
  findTakenCases,
  findWaitingPlayers,
  insertSubmissions,
  latestSubmissions,
  lockSource,
  type QueuePlace,
  readSource,
  removeTakenCases,
  saveTakenCase,
  timeDecisions,
} from './records.ts'
import { assertNotTakenByOther, faultOfTemplate, type TakenCase, takenNow } from './review.ts'
import { documentUrl, publicKyc, publicSubmission, shownTakenCase } from './views.ts'

/** Registers a submission. It sends no event, because the operator made the change itself. */
export const submitKyc = handle(operations.players.submitKyc, {
  conflictKeys: ({ input }) => [input.playerId],

  load: (calls, { db }) => lockPlayers(db, calls.map(playerOf)),

  decide({ input, scope, operationId }, player, { now, newId }) {
    if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
    const submitted = submit(kycAt(player, now))
    const { playerId, documentType, reference } = input
    const submission = { id: newId('kyc'), playerId, documentType, reference, submittedAt: now }
    return {
      reply: { submission: publicSubmission(submission), kycStatus: submitted.player.kycStatus },
      change: { submission, kyc: { ...submitted, actor: scope.operatorId, operationId, reason: null } },
    }
  },

  save(changes, { now }) {
    const submissions = changes.map(({ submission }) => submission)
    const made = changes.map(({ kyc }) => kyc)
    return [insertSubmissions(submissions), ...saveKycChanges(made, now)]
  },
})

export const getKyc = handle(operations.players.getKyc, {
  async read(calls, { db }) {
    const keys = calls.map(playerOf)
    const ids = keys.map(({ playerId }) => playerId)
    const [stored, submissions] = await Promise.all([readPlayers(db, keys), latestSubmissions(db, ids)])
    const players = await seePlayers(db, stored)
    return players.map((player, index) =>
      player === undefined ? new Rejection('PLAYER_NOT_FOUND') : publicKyc(player, submissions[index] ?? []),
    )
  },
})

export const kycQueue = handle(operations.players.kycQueue, async (call, { db, rpc, now }) => {
  const { after: cursor, limit, ...filter } = call.input
  const after = cursor === undefined ? null : placeOf(cursor)
  const waiting = await findWaitingPlayers(db, { ...filter, after, limit: limit + 1 })
  const [sources, taken] = await Promise.all([
    findSources(db, waiting, call.caller.roles),
    findTakenCases(
      db,
      waiting.map(({ playerId }) => playerId),
    ),
  ])
  const shown = waiting.map((player) => ({
    ...withIsoTimes(player),
    documentUrl: documentUrl(sources, player, player.latestReference, now),
    taken: shownTakenCase(taken.get(player.playerId), now),
  }))
  const { data, nextCursor } = toPage(shown, limit, ({ waitingSince, playerId }) => `${waitingSince}/${playerId}`)
  const scope = waiting[0] && scopeOf(await requirePlayer(db, waiting[0].playerId))
  const { requestId, deadline } = call
  return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
})

function placeOf(cursor: string): QueuePlace {
  const [, time = '', playerId = ''] = /^([^/]+)\/([^/]+)$/.exec(cursor) ?? []
  const waitingSince = new Date(time)
  if (playerId === '' || Number.isNaN(waitingSince.getTime()))
    throw invalid('body', '/after', 'is not a cursor of the queue')
  return { waitingSince, playerId }
}

export const ageKycQueue = handle(operations.players.ageKycQueue, async ({ input }, { db, now }) => ({
  data: await ageWaitingPlayers(db, input.environment, now),
}))

export const timeKycDecisions = handle(operations.players.timeKycDecisions, timeDecisions)

export const countKycQueue = handle(operations.players.countKycQueue, async ({ input }, { db }) => ({
  data: (await countWaitingPlayers(db, input.environment)).map(withIsoTimes),
}))

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

/** Giving back a case that is not taken succeeds and changes nothing. */
export const releaseKycCase = handle(operations.players.releaseKycCase, {
  async execute({ input: { playerId }, actor }, { db, now, changed }) {
    const [player] = await lockPlayers(db, [{ playerId, brandId: null }])
    if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
    const taken = (await findTakenCases(db, [playerId])).get(playerId)
    assertNotTakenByOther(taken, actor, now)
    await db.write([removeTakenCases([playerId])])
    if (takenNow(taken, now) !== undefined) changed({ field: 'takenBy', before: actor, after: null })
    return { playerId, taken: null }
  },
})

export const decideKyc = ({ kycTermMs }: { readonly kycTermMs: number | null }) =>
  handle(
    operations.players.decideKyc,
    kycDecision(kycTermMs, ({ actor, input }: Call<typeof operations.players.decideKyc>) => ({
      brandId: null,
      actor,
      person: input,
    })),
  )

export const decideKycInSandbox = ({ kycTermMs }: { readonly kycTermMs: number | null }) =>
  handle(
    operations.players.decideKycInSandbox,
    kycDecision(kycTermMs, ({ scope }: Call<typeof operations.players.decideKycInSandbox>) => ({
      brandId: scope.brandId,
      actor: 'sandbox',
      person: null,
    })),
  )

/** Nothing is fetched from the address, so it is judged by its text alone. */
export const setDocumentUrl = ({ development }: { readonly development: boolean }) =>
  handle(operations.players.setDocumentUrl, {
    async execute({ input }, { db, now, changed: audited }) {
      const { operatorId, environment, template, newKey: replacesKey = false } = input
      const fault = template === null ? null : faultOfTemplate(template, development)
      if (fault !== null) throw invalid('body', '/template', fault)
      const before = await lockSource(db, { operatorId, environment })
      refuseUnlessSeen({ operatorId, environment }, input.seen, { template: before?.template ?? null })
      const changed = await changeSource(db, { operatorId, environment, template, replacesKey, now })
      const { keyCreatedAt, secret } = changed
      const after = { operatorId, environment, template, keyCreatedAt: keyCreatedAt.toISOString() }
      const keyBefore = before?.keyCreatedAt.toISOString() ?? null
      audited(
        ...(before?.template === template
          ? []
          : [{ field: 'template', before: before?.template ?? null, after: template }]),
        ...(secret === null ? [] : [{ field: 'keyCreatedAt', before: keyBefore, after: after.keyCreatedAt }]),
      )
      return { ...after, secret }
    },
    stored: (reply) => ({ ...reply, secret: null }),
  })

export const showDocumentUrl = handle(operations.players.showDocumentUrl, async ({ input }, { db }) => {
  const { operatorId, environment } = input
  const { template = null, keyCreatedAt } = (await readSource(db, input)) ?? {}
  return { operatorId, environment, template, keyCreatedAt: keyCreatedAt?.toISOString() ?? null }
})
