import {
  defined,
  fromMinorUnits,
  type Input,
  invalid,
  listedDays,
  operations,
  type Player,
  type PlayerStanding,
  Rejection,
  refuseUnlessSeen,
  seenOf,
  type TeamPlayer,
  toMinorUnits,
} from '@backoffice/contracts'
import { dayMs } from '@backoffice/process'
import { type Call, fitting, handle, type Tools, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { playerRows, withOperatorNames } from '@backoffice/team-access'
import { findSources, findTakenCases, forgetReferences, latestSubmissions, sourceOf } from '../kyc/records.ts'
import { documentUrl, publicSubmission, shownTakenCase } from '../kyc/views.ts'
import {
  auditedChange,
  findLastChange,
  findRaisedLimits,
  insertChanges,
  latestChanges,
  limitHoldsFrom,
} from './changes.ts'
import {
  anonymise,
  type ChangedPlayer,
  limitNow,
  type Obligations,
  type PlayerRecord,
  register,
  type SeenPlayer,
  seenPlayer,
  selfExclude,
  setLimit,
  setStatus,
} from './player.ts'
import {
  findPlayersByExternalId,
  insertPlayers,
  lockPlayer,
  playerOf,
  playerTables,
  readPlayers,
  requirePlayer,
  scopeOf,
  seePlayer,
  seePlayers,
  updateIdentity,
  updatePlayer,
} from './records.ts'
import { listPlayers as list, nameWords, type SearchedBy, searchPlayers as search } from './search.ts'
import { tellBeforeAnonymising, tellLimit, tellStatus } from './tell-status.ts'

/** The record as the API shows it. */
function publicPlayer(player: SeenPlayer): Player {
  const { id, externalId, name, email, cpf, phone, birthDate, status, kycStatus, currency, createdAt } = player
  return withIsoTimes({
    ...{ id, externalId, name, email, cpf, phone, birthDate, status, kycStatus, currency, createdAt },
  })
}

/** What payments needs to know about a player now. */
function standingOf(player: SeenPlayer): PlayerStanding {
  const { id: playerId, currency, status, kycStatus } = player
  return { playerId, currency, status, kycStatus, dailyDepositLimit: amountOf(limitNow(player, player.seenAt)) }
}

/** The record as the team sees it. */
function teamPlayer(player: SeenPlayer): TeamPlayer {
  const { operatorId, brandId, environment, timeZone, statusSet, excludedBy, excludedUntil } = player
  const { kycReason, kycDecidedAt, kycExpiresAt } = player
  const { selfExcludedFrom, selfExcludedUntil, pendingLimit, pendingLimitFrom } = player
  return {
    ...publicPlayer(player),
    ...withIsoTimes({ operatorId, brandId, environment, timeZone, statusSet, kycReason, kycDecidedAt, kycExpiresAt }),
    ...withIsoTimes({ excludedUntil }),
    excludedBy,
    selfExclusion:
      selfExcludedFrom === null ? null : withIsoTimes({ from: selfExcludedFrom, until: selfExcludedUntil }),
    dailyDepositLimit: amountOf(limitNow(player, player.seenAt)),
    pendingLimit:
      pendingLimitFrom !== null && pendingLimitFrom > player.seenAt
        ? { dailyDepositLimit: amountOf(pendingLimit), from: pendingLimitFrom.toISOString() }
        : null,
  }
}

const amountOf = (limit: bigint | null) => (limit === null ? null : fromMinorUnits(limit))

/** Registers a player and opens the wallet. The reply is sent once the account is there. */
export const registerPlayer = handle(operations.players.registerPlayer, {
  conflictKeys: ({ input, scope }) => [`${scope.brandId} ${input.externalId}`],

  load(calls, { db }) {
    const keys = calls.map(({ input, scope }) => ({ brandId: scope.brandId, externalId: input.externalId }))
    return findPlayersByExternalId(db, keys)
  },

  decide({ input, scope }, existing, given) {
    const player = register(input, scope, given)
    if (existing !== undefined) throw new Rejection('PLAYER_ALREADY_EXISTS', { playerId: existing.id })
    const { id } = player
    return {
      // As the record begins. Whether its person is self-excluded is seen from then on.
      reply: publicPlayer(seenPlayer(player, [], given.now)),
      change: player,
      sends: [{ operation: operations.wallet.openAccount, aggregate: id, scope, input: { playerId: id } }],
    }
  },

  save: (players, { vault }) => [insertPlayers(vault, players)],
})

export const findPlayers = handle(operations.players.findPlayers, {
  async read(calls, { db }) {
    const keys = calls.map(({ input, scope }) => ({ brandId: scope.brandId, externalId: input.externalId }))
    const players = await seePlayers(db, await findPlayersByExternalId(db, keys))
    return players.map((player) => ({ data: player === undefined ? [] : [publicPlayer(player)] }))
  },
})

export const getPlayerStanding = handle(operations.players.getPlayerStanding, {
  async read(calls, { db }) {
    const players = await seePlayers(db, await readPlayers(db, calls.map(playerOf)))
    return players.map((player) => (player === undefined ? new Rejection('PLAYER_NOT_FOUND') : standingOf(player)))
  },
})

export const readPlayerNames = handle(operations.players.readPlayerNames, async ({ input }, { db }) => {
  const found = await readPlayers(db, input.players)
  return { players: found.flatMap((player) => (player ? [{ playerId: player.id, name: player.name }] : [])) }
})

export const namePlayers = handle(operations.players.namePlayers, async ({ input }, { db }) => {
  const found = await readPlayers(db, input.players)
  const shown = found.flatMap((player) => player ?? [])
  return { data: shown.map(({ id: playerId, name, operatorId, brandId }) => ({ playerId, name, operatorId, brandId })) }
})

export const listPlayers = handle(operations.players.listPlayers, async (call, { db, rpc, now }) => {
  const { limit } = call.input
  const found = await list(db, { ...call.input, ...listedPeriod(call.input, now), limit: limit + 1 })
  return pageOf(call, found, { db, rpc })
})

export const listRaisedLimits = handle(operations.players.listRaisedLimits, async (call, { db, rpc, now }) => {
  const { environment, since } = call.input
  const from = since === undefined ? new Date(now.getTime() - dayMs) : new Date(since)
  const raised = await findRaisedLimits(db, environment, from)
  const scope = raised[0] && scopeOf(await requirePlayer(db, raised[0].playerId))
  const { requestId, deadline } = call
  const named = await withOperatorNames(raised.map(withIsoTimes), { rpc, scope, requestId, deadline })
  return { data: named.map(({ brandId: _, ...limit }) => limit) }
})

/** Without anything else that keeps the list short, it goes back some days only. */
function listedPeriod(
  { from, to, brandId, externalId, status }: Input<typeof operations.players.listPlayers>,
  now: Date,
) {
  const end = to === undefined ? undefined : new Date(to)
  const isShort = (brandId ?? externalId) !== undefined || status === 'autoexcluido'
  if (from === undefined && isShort) return { from: undefined, to: end }
  return { from: new Date(from ?? (end ?? now).getTime() - listedDays * dayMs), to: end }
}

/** A page of players as the team sees them, with the names of their operators. */
async function pageOf(
  {
    input: { limit },
    requestId,
    deadline,
  }: Pick<Call<typeof operations.players.listPlayers>, 'input' | 'requestId' | 'deadline'>,
  found: readonly PlayerRecord[],
  { db, rpc }: Pick<Tools['query'], 'db' | 'rpc'>,
) {
  const { data, nextCursor } = toPage((await seePlayers(db, found)).map(teamPlayer), limit, ({ id }) => id)
  const scope = found[0] && scopeOf(found[0])
  return { data: await withOperatorNames(data, { rpc, scope, requestId, deadline }), nextCursor }
}

/** The runtime masks what is found, and records a search with a reason before it is answered. */
export const searchPlayers = handle(operations.players.searchPlayers, async (call, { db, rpc }) => {
  const found = await search(db, { ...call.input, by: searchedBy(call.input), limit: call.input.limit + 1 })
  return pageOf(call, found, { db, rpc })
})

type SearchInput = Input<typeof operations.players.searchPlayers>

/** @throws {Rejection} VALIDATION_ERROR */
function searchedBy({ playerId, externalId, name, reason, ...secret }: SearchInput): SearchedBy {
  const { cpf, email, phone } = secret
  const given = [playerId, externalId, cpf, email, phone, name].filter((value) => value !== undefined)
  if (given.length !== 1)
    throw invalid('body', '', 'must have exactly one of playerId, externalId, cpf, email, phone and name')
  if (playerId !== undefined) return { playerId }
  if (externalId !== undefined) return { externalId }
  if (name !== undefined) {
    const words = nameWords(name)
    if (words.length === 0) throw invalid('body', '/name', 'has no letter and no digit')
    return { words }
  }
  if (reason === undefined) throw invalid('body', '/reason', 'is required with cpf, email or phone')
  if (cpf !== undefined) return { cpf }
  return email === undefined ? { phone: phone ?? '' } : { email }
}

export const showPlayer = handle(
  operations.players.showPlayer,
  async ({ input: { playerId }, caller }, { db, now }) => {
    const player = await seePlayer(db, await requirePlayer(db, playerId))
    const [[submissions = []], changes, sources, taken] = await Promise.all([
      latestSubmissions(db, [playerId]),
      latestChanges(db, playerId),
      findSources(db, [player], caller.roles),
      findTakenCases(db, [playerId]),
    ])
    return {
      ...teamPlayer(player),
      taken: shownTakenCase(taken.get(playerId), now),
      documentSourceChangedAt: sourceOf(sources, player)?.changedAt?.toISOString() ?? null,
      submissions: submissions.map((submission) => ({
        ...publicSubmission(submission),
        salt: submission.salt,
        documentUrl: documentUrl(sources, player, submission.reference, now),
      })),
      changes: fitting(
        changes.map(({ actor, field, previous, next, reason, at }) => {
          const effectiveAt = limitHoldsFrom({ field, previous, next }, at)?.toISOString()
          const change = withIsoTimes({ at, actor, field, from: previous, to: next, reason })
          return { ...change, ...defined({ effectiveAt }) }
        }),
      ),
    }
  },
)

export const exportPlayer = handle(operations.players.exportPlayer, ({ input }, { db }) =>
  playerRows(db, playerTables, input),
)

const { setPlayerStatus: setsStatus, setDailyLimit: setsLimit, selfExcludePlayer: excludes } = operations.players
type PlayerEdit = typeof setsStatus | typeof setsLimit | typeof excludes

/**
 * One edit of one player by a person of the team, recorded with who, what and why.
 * @throws {Rejection} PLAYER_NOT_FOUND, NOT_AS_SEEN, and what `edit` refuses
 */
async function editPlayer<O extends PlayerEdit>(
  operation: O,
  { input, actor, operationId }: Pick<Call<PlayerEdit>, 'input' | 'actor' | 'operationId'>,
  tools: Tools['execute'],
  edit: (player: PlayerRecord, now: Date) => ChangedPlayer<PlayerRecord>,
): Promise<TeamPlayer> {
  const { db, now, changed: audited } = tools
  const { playerId, seen } = input
  const player = await lockPlayer(db, playerId)
  refuseUnlessSeen({ playerId }, seen, seenOf<PlayerEdit>(operation, teamPlayer(await seePlayer(db, player))))
  const changed = edit(player, now)
  await updatePlayer(db, changed.player)
  await db.write(insertChanges([{ ...changed, actor, operationId, reason: input.reason ?? null }], now))
  audited(...auditedChange(changed))
  const what = { source: 'team', changedAt: now } as const
  if (operation === setsLimit) await tellLimit(tools, player, changed.player, what)
  else await tellStatus(tools, [{ player: changed.player, ...what }])
  return teamPlayer(await seePlayer(db, changed.player))
}

export const setPlayerStatus = handle(setsStatus, {
  /** Nobody lifts a self-exclusion alone. */
  async approval({ input: { playerId, status } }, { db }) {
    const player = await lockPlayer(db, playerId)
    const isLifted = player.status === 'autoexcluido' && status !== 'autoexcluido'
    return player.environment === 'production' && isLifted ? 'second person' : 'nobody'
  },
  execute: (call, tools) => editPlayer(setsStatus, call, tools, (player) => setStatus(player, call.input.status)),
})

export const setDailyLimit = handle(setsLimit, {
  execute(call, tools) {
    const { dailyDepositLimit } = call.input
    const wished = dailyDepositLimit === null ? null : toMinorUnits(dailyDepositLimit)
    return editPlayer(setsLimit, call, tools, (player, now) => setLimit(player, wished, now))
  },
})

export const selfExcludePlayer = handle(excludes, {
  execute(call, tools) {
    const until = call.input.until === null ? null : new Date(call.input.until)
    return editPlayer(excludes, call, tools, (player, now) => selfExclude(player, until, now))
  },
})

type AnonymiseCall = Call<typeof operations.players.anonymisePlayer>

/** @param keepYears of a player in production; nothing in the sandbox is about a real person */
export const anonymisePlayer = ({ keepYears }: { readonly keepYears: number }) =>
  handle(operations.players.anonymisePlayer, {
    prepare: readObligations,

    async execute({ input, actor, operationId }, tools, obligations) {
      const { db, now, newId, send } = tools
      const { playerId, reason } = input
      await tellBeforeAnonymising(tools, playerId)
      const player = await lockPlayer(db, playerId)
      const years = player.environment === 'production' ? keepYears : 0
      const seen = await seePlayer(db, player)
      refuseUnlessSeen({ playerId }, input.seen, seenOf(operations.players.anonymisePlayer, teamPlayer(seen)))
      const isExcluded = seen.status === 'autoexcluido'
      const changed = anonymise(player, obligations, { now, newId, keepYears: years, isExcluded })
      if (changed.change === null) return teamPlayer(seen)
      await updatePlayer(db, changed.player)
      await updateIdentity(db, changed.player)
      const made = { ...changed, actor, operationId, reason }
      await Promise.all([forgetReferences(db, playerId), db.write(insertChanges([made], now))])
      const scope = scopeOf(player)
      send({ operation: operations.payments.forgetDestinations, aggregate: playerId, scope, input: { playerId } })
      return teamPlayer(await seePlayer(db, changed.player))
    },
  })

/** Asked before the transaction. A closed player gets no new deposit, and has nothing that could be withdrawn. */
async function readObligations(
  { input, requestId, deadline }: AnonymiseCall,
  { db, rpc }: Tools['prepare'],
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
    openRounds: account.openRounds,
    lastChangeAt: new Date(Math.max(...dates.map(Number))),
  }
}
