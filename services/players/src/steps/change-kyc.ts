import assert from 'node:assert/strict'
import { type KycChange, type KycDecision, type KycStatus, Rejection, type Scope } from '@backoffice/contracts'
import type { Db } from '@backoffice/service-runtime'
import { decide, kycAt } from '../domain/kyc.ts'
import type { Changed, PlayerRecord } from '../domain/player.ts'
import { assertNotTakenByOther, type TakenCase } from '../domain/taken-case.ts'
import { type KycSubmission, latestSubmissions } from '../storage/kyc-submissions.ts'
import { insertChanges, type MadeChange } from '../storage/player-changes.ts'
import { lockPlayers, updateKyc } from '../storage/players.ts'
import { findTakenCases, removeTakenCases } from '../storage/taken-cases.ts'
import { auditedChange, publicKyc } from '../views/player.ts'

/** Writes the changes of players whose rows are locked. */
export async function saveKycChanges(db: Db, made: readonly MadeChange[], now: Date): Promise<void> {
  const changed = made.flatMap(({ player, change }) => (change === null ? [] : [player]))
  if (changed.length > 0) await Promise.all([updateKyc(db, changed), insertChanges(db, made, now)])
}

/** What tells of a change of the status: nothing where there is none. */
export function kycEvents({ player, change }: Changed<PlayerRecord>, kyc: KycChange) {
  if (change === null) return []
  const data = { ...kyc, previousStatus: change.previous as KycStatus, version: player.kycVersion }
  return [{ kind: 'kyc.status_changed', aggregate: player.id, scope: player, data } as const]
}

interface DecisionCall {
  readonly input: { readonly playerId: string; readonly status: KycDecision; readonly reason?: string }
  readonly scope: Scope
  readonly actor: string
}

interface Decided {
  readonly player: PlayerRecord | undefined
  /** The latest one, if there is any. */
  readonly submissions: readonly KycSubmission[]
  readonly taken: TakenCase | undefined
}

/** A decision to be written. It also ends that somebody had taken the case. */
interface DecidedCase {
  readonly made: MadeChange
  readonly wasTaken: boolean
}

interface Decider {
  /** The brand that the player must belong to. Null: any. */
  readonly brandId: string | null
  /** Who is recorded. */
  readonly actor: string
  /** Of the team: nobody decides a case that somebody else has taken, or another submission than the one they have seen. */
  readonly person: { readonly seen: string | null } | null
}

/**
 * People decide about what they have read, and their signature names it.
 * @throws {Rejection} KYC_NOT_AS_SEEN, with both
 */
function refuseUnlessSeen(
  { id: playerId }: PlayerRecord,
  seen: string | null,
  [latest]: readonly KycSubmission[],
): void {
  const held = latest?.id ?? null
  if (seen !== held) throw new Rejection('KYC_NOT_AS_SEEN', { playerId, seen, held })
}

/**
 * How a decision is made and its event is sent, whether the team decides or the sandbox route.
 * @param termMs how long an approval holds; null: until the next decision
 */
export const kycDecision = <C extends DecisionCall>(termMs: number | null, whose: (call: C) => Decider) => ({
  apart: ({ input }: C) => [input.playerId],

  async load(calls: readonly C[], { db }: { readonly db: Db }): Promise<Decided[]> {
    const keys = calls.map((call) => ({ playerId: call.input.playerId, brandId: whose(call).brandId }))
    const ids = keys.map(({ playerId }) => playerId)
    const [players, submissions, taken] = await Promise.all([
      lockPlayers(db, keys),
      latestSubmissions(db, ids, 1),
      findTakenCases(db, ids),
    ])
    return players.map((player, index) => ({
      player,
      submissions: submissions[index] ?? [],
      taken: taken.get(ids[index] ?? ''),
    }))
  },

  decide(call: C, { player, submissions, taken }: Decided, { now }: { readonly now: Date }) {
    if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
    const { actor, person } = whose(call)
    assert(person !== null || player.environment === 'sandbox', 'only in the sandbox')
    if (person !== null) {
      assertNotTakenByOther(taken, actor, now)
      refuseUnlessSeen(player, person.seen, submissions)
    }
    const { status, reason = null } = call.input
    const decided = decide(kycAt(player, now), { status, reason, termMs }, now)
    const kyc = publicKyc(decided.player, submissions)
    const change: DecidedCase = { made: { ...decided, actor, reason }, wasTaken: taken !== undefined }
    const changed = auditedChange(decided)
    return { reply: kyc, change, sends: kycEvents(decided, kyc), changed }
  },

  async save(cases: readonly DecidedCase[], { db, now }: { readonly db: Db; readonly now: Date }) {
    const made = cases.map((one) => one.made)
    const over = cases.filter(({ wasTaken }) => wasTaken).map((one) => one.made.player.id)
    await Promise.all([saveKycChanges(db, made, now), over.length === 0 ? undefined : removeTakenCases(db, over)])
  },
})
