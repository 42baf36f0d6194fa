import assert from 'node:assert/strict'
import {
  documentRoles,
  type IdOf,
  type Input,
  invalid,
  type KycChange,
  type KycDecision,
  type KycStatus,
  operations,
  Rejection,
  refuseUnlessSeen,
  type Scope,
  seenOfSubmission,
} from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import type { Fragment, LockingDb, ServiceContext } from '@backoffice/service-runtime'
import { byService, insertAudit } from '@backoffice/team-access'
import { auditedChange, insertChanges, type MadeChange } from '../players/changes.ts'
import { type ChangedPlayer, decide, expire, kycAt, type PlayerRecord } from '../players/player.ts'
import { lockEndedApprovals, lockPlayers, updateKyc } from '../players/records.ts'
import { findSources, findTakenCases, latestSubmissions, removeTakenCases, type StoredSubmission } from './records.ts'
import { assertNotTakenByOther, type TakenCase } from './review.ts'
import { documentUrl, publicKyc } from './views.ts'

/** Writes the changes of players whose rows are locked. */
export function saveKycChanges(made: readonly MadeChange[], now: Date): Fragment[] {
  const changed = made.flatMap(({ player, change }) => (change === null ? [] : [player]))
  return changed.length === 0 ? [] : [updateKyc(changed), ...insertChanges(made, now)]
}

/** What tells of a change of the status: nothing where there is none. */
function kycEvents({ player, change }: ChangedPlayer<PlayerRecord>, kyc: KycChange) {
  if (change === null) return []
  const data = { ...kyc, previousStatus: change.previous as KycStatus, version: player.kycVersion }
  return [{ kind: 'kyc.status_changed', aggregate: player.id, scope: player, data } as const]
}

interface DecisionCall {
  readonly input: { readonly playerId: IdOf<'player'>; readonly status: KycDecision; readonly reason?: string }
  readonly scope: Scope
  readonly actor: string
  readonly operationId: string
}

interface Decided {
  readonly player: PlayerRecord | undefined
  /** The latest one, if there is any. */
  readonly submissions: readonly StoredSubmission[]
  readonly taken: TakenCase | undefined
  /** Where the documents of the players open. */
  readonly sources: Awaited<ReturnType<typeof findSources>>
}

/** A decision to be written. It also ends that somebody had taken the case. */
interface DecidedCase {
  readonly made: MadeChange
  readonly wasTaken: boolean
}

type Reviewer = Pick<Input<typeof operations.players.decideKyc>, 'submission' | 'seen' | 'restsOn'>

interface Decider {
  /** The brand that the player must belong to. Null: any. */
  readonly brandId: IdOf<'brand'> | null
  /** Who is recorded. */
  readonly actor: string
  /** Who of the team decides. A case that another person took, or a submission they have not seen, is refused. */
  readonly person: Reviewer | null
}

/**
 * How a decision is made and its event is sent, whether the team decides or the sandbox route.
 * @param termMs how long an approval holds; null: until the next decision
 */
export const kycDecision = <C extends DecisionCall>(termMs: number | null, whose: (call: C) => Decider) => ({
  conflictKeys: ({ input }: C) => [input.playerId],

  async load(calls: readonly C[], { db }: { readonly db: LockingDb }): Promise<Decided[]> {
    const keys = calls.map((call) => ({ playerId: call.input.playerId, brandId: whose(call).brandId }))
    const ids = keys.map(({ playerId }) => playerId)
    const [players, submissions, taken] = await Promise.all([
      lockPlayers(db, keys),
      latestSubmissions(db, ids, 1),
      findTakenCases(db, ids),
    ])
    const shown = calls.flatMap((call, index) => (whose(call).person?.seen && players[index]) ?? [])
    // Whoever decides may open the documents.
    const sources = await findSources(db, shown, new Set(shown.length === 0 ? [] : documentRoles))
    return players.map((player, index) => ({
      player,
      sources,
      submissions: submissions[index] ?? [],
      taken: taken.get(ids[index] ?? ''),
    }))
  },

  decide(call: C, { player, submissions, taken, sources }: Decided, { now }: { readonly now: Date }) {
    if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
    const { actor, person } = whose(call)
    assert(person !== null || player.environment === 'sandbox', 'only in the sandbox')
    if (person !== null) {
      assertNotTakenByOther(taken, actor, now)
      const [submission] = submissions
      const subject = { playerId: player.id }
      const link = submission === undefined ? null : documentUrl(sources, player, submission.reference, now)
      const held = submission && seenOfSubmission({ player, submission: { ...submission, documentUrl: link } })
      refuseUnlessSeen(subject, { submission: person.submission }, { submission: submission?.id ?? null })
      refuseUnlessSeen(subject, person.seen, held ?? null)
      const { status } = call.input
      const isUnseen = submission !== undefined && link === null
      // Nobody approves what nobody has looked at: whoever has seen it elsewhere says where.
      if (status === 'aprovado' && isUnseen && person.restsOn === undefined)
        throw invalid('body', '/restsOn', 'is required')
    }
    const { status, reason = null } = call.input
    const decided = decide(kycAt(player, now), { status, reason, termMs }, now)
    const kyc = publicKyc(decided.player, submissions)
    const change: DecidedCase = {
      made: { ...decided, actor, operationId: call.operationId, reason },
      wasTaken: taken !== undefined,
    }
    const changed = auditedChange(decided)
    return { reply: kyc, change, sends: kycEvents(decided, kyc), changed }
  },

  save(cases: readonly DecidedCase[], { now }: { readonly now: Date }) {
    const made = cases.map((one) => one.made)
    const over = cases.filter(({ wasTaken }) => wasTaken).map((one) => one.made.player.id)
    return [...saveKycChanges(made, now), ...(over.length === 0 ? [] : [removeTakenCases(over)])]
  },
})

const batchMax = 100

/** Who the history and the audit trail say it was. */
const actor = 'players'

/**
 * Writes down that approvals have ended, and sends the event of each, in one transaction. Everybody reads `expirado` from
 * the end on, so nothing depends on when this runs.
 * @returns how many had ended
 */
export function sweepApprovals({ transact }: Pick<ServiceContext, 'transact'>): Promise<number> {
  return transact(async ({ db, now, newId, emit }) => {
    const ended = await lockEndedApprovals(db, batchMax)
    if (ended.length === 0) return 0
    const expired = ended.map(expire)
    const ids = ended.map(({ id }) => id)
    const submissions = await latestSubmissions(db, ids, 1)
    const made = expired.map((one) => ({ ...one, actor, operationId: newId('aud'), reason: one.player.kycReason }))
    const trail = made.map((one) => {
      const {
        player: { id: subject },
        operationId,
        reason,
      } = one
      const what = { actor, operation: operations.players.decideKyc.id, operationId, subject, reason }
      const input = { playerId: subject, status: one.player.kycStatus }
      return { id: operationId, ...byService, ...what, input, changes: auditedChange(one) }
    })
    await Promise.all([db.write(saveKycChanges(made, now)), insertAudit(db, trail, now)])
    for (const [index, one] of expired.entries())
      for (const event of kycEvents(one, publicKyc(one.player, submissions[index] ?? []))) emit(event)
    return ended.length
  })
}

/** Sweeps every `everyMs`, and again at once while there is more than one batch. */
export const approvalSweeper = (context: ServiceContext, everyMs: number): Loop =>
  new Loop({
    name: 'sweeping ended approvals',
    log: context.log,
    everyMs,
    firstAfterMs: everyMs,
    run: async () => (await sweepApprovals(context)) >= batchMax,
  })
