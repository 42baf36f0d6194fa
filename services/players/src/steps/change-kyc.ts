import { type KycDecision, Rejection, type Scope } from '@backoffice/contracts'
import type { Db } from '@backoffice/service-runtime'
import { decide } from '../domain/kyc.ts'
import type { PlayerRecord } from '../domain/player.ts'
import { type KycSubmission, latestSubmissions } from '../storage/kyc-submissions.ts'
import { insertChanges, type MadeChange } from '../storage/player-changes.ts'
import { lockPlayers, updateKyc } from '../storage/players.ts'
import { auditedChange, publicKyc } from '../views/player.ts'

/** Writes the changes of players whose rows are locked. */
export async function saveKycChanges(db: Db, made: readonly MadeChange[], now: Date): Promise<void> {
  const changed = made.flatMap(({ player, change }) => (change === null ? [] : [player]))
  if (changed.length > 0) await Promise.all([updateKyc(db, changed), insertChanges(db, made, now)])
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
}

/**
 * How a decision is made and its event is sent, whether the team decides or the sandbox route.
 * @param whose the brand that the player must belong to (null: any), and who is recorded as the actor
 */
export const kycDecision = (whose: (call: DecisionCall) => { brandId: string | null; actor: string }) => ({
  apart: ({ input }: DecisionCall) => [input.playerId],

  async load(calls: readonly DecisionCall[], { db }: { readonly db: Db }): Promise<Decided[]> {
    const keys = calls.map((call) => ({ playerId: call.input.playerId, brandId: whose(call).brandId }))
    const ids = keys.map(({ playerId }) => playerId)
    const [players, submissions] = await Promise.all([lockPlayers(db, keys), latestSubmissions(db, ids, 1)])
    return players.map((player, index) => ({ player, submissions: submissions[index] ?? [] }))
  },

  decide(call: DecisionCall, { player, submissions }: Decided, { now }: { readonly now: Date }) {
    if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
    const { status, reason = null } = call.input
    const decided = decide(player, { status, reason }, now)
    const kyc = publicKyc(decided.player, submissions)
    const change: MadeChange = { ...decided, actor: whose(call).actor, reason }
    const changed = auditedChange(decided)
    if (decided.change === null) return { reply: kyc, change }
    const data = { ...kyc, previousStatus: player.kycStatus, version: decided.player.kycVersion }
    const event = { kind: 'kyc.status_changed', aggregate: player.id, scope: player, data } as const
    return { reply: kyc, change, sends: [event], changed }
  },

  save: (changes: readonly MadeChange[], { db, now }: { readonly db: Db; readonly now: Date }) =>
    saveKycChanges(db, changes, now),
})
