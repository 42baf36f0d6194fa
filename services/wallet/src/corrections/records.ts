import { aloneHours } from '@backoffice/contracts'
import { hourMs, type ReadDb } from '@backoffice/service-runtime'
import type { TeamCaller } from '@backoffice/team-identity'

export interface Correction {
  readonly brandId: string
  readonly playerId: string
  /** Of the call itself. A retry must not count it twice. */
  readonly reference: string
  readonly person: Pick<TeamCaller, 'id' | 'name'>
}

/**
 * What a person corrected alone of a player's balance in the last `aloneHours`, either way, in minor units, without this
 * correction.
 */
export async function sumCorrectedAlone(
  db: ReadDb,
  { brandId, playerId, reference, person }: Correction,
  now: Date,
): Promise<bigint> {
  const windowMs = aloneHours * hourMs
  const [since, until] = [new Date(now.getTime() - windowMs), new Date(now.getTime() + windowMs)]
  const [sum] = await db<{ corrected: bigint }>`
    select coalesce(sum(t.amount), 0)::bigint as corrected from audit_entry e
    join transfer t on t.brand_id = ${brandId} and t.reference = e.input ->> 'reference'
      and t.type in ('ADJUSTMENT', 'REVERSAL') and t.outcome = 'posted'
    join account a on a.id in (t.debit_account, t.credit_account) and a.owner_id = ${playerId}
    -- No entry is that late. With an end the planner expects two days, and not a third of the trail.
    where e.at > ${since}::timestamptz and e.at < ${until}::timestamptz
      and e.operation in ('adjustWallet', 'reverseTransfer') and (e.actor = ${person.name} or e.actor_id = ${person.id})
      and e.outcome = 'done' and e.proposal is null and e.input ->> 'reference' <> ${reference}
  `
  return sum?.corrected ?? 0n
}
