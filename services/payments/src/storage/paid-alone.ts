import { aloneHours } from '@backoffice/contracts'
import { type ReadDb, unnest } from '@backoffice/service-runtime'

interface Asked {
  readonly playerId: string
  readonly person: string
  /** Their account at the identity provider. */
  readonly personId: string | null
  /** What a machine paid counts whoever approved it. */
  readonly isMachine: boolean
}

/**
 * What each person both approved and paid of a player's withdrawals in the last `aloneHours`, in minor units and in the order
 * of `asked`.
 */
export async function sumPaidAlone(db: ReadDb, asked: readonly Asked[]): Promise<bigint[]> {
  if (asked.length === 0) return []
  const rows = await db<{ paid: bigint }>`
    select coalesce((
      select sum(w.amount) from withdrawal w
      where w.player_id = asked.player_id and w.paid_at > now() - make_interval(hours => ${aloneHours}::int)
        and (w.approved_by = asked.person or w.approved_by_id = asked.person_id or asked.is_machine)
        and exists (
          select from status_transition s
          where s.record_id = w.id and s.to_status = 'paid' and s.by_kind = 'team'
            and (s.by_name = asked.person or s.by_id = asked.person_id)
        )
    ), 0)::bigint as paid
    from ${unnest('asked', asked, 'player_id text, person text, person_id text, is_machine bool')}
    order by place
  `
  return rows.map(({ paid }) => paid)
}
