import { type ReadDb, unnest } from '@backoffice/service-runtime'
import type { Past } from '../domain/withdrawal-facts.ts'
import { forgotten } from './player-records.ts'
import { opened, type StoredDestination } from './sealed-destination.ts'
import type { WithdrawalRecord } from './withdrawals.ts'

type Asked = Pick<WithdrawalRecord, 'id' | 'playerId' | 'paidAt'>

const columns = 'id text, player_id text, paid_at timestamptz'

/** Destinations are opened one by one to be compared, so there is a bound. */
const destinationsMax = 50

/** What the player did before each withdrawal, in the order of `asked`. @param since from when on sums are taken */
export async function readPasts(db: ReadDb, asked: readonly Asked[], since: Date): Promise<Past[]> {
  const [sums, destinations] = await Promise.all([readSums(db, asked, since), readDestinations(db, asked)])
  return sums.map(({ id, deposits, deposited, withdrawals, withdrawn, paidBefore }) => ({
    paidBefore,
    destinations: destinations.get(id) ?? [],
    deposits: { count: deposits, amount: BigInt(deposited) },
    withdrawals: { count: withdrawals, amount: BigInt(withdrawn) },
  }))
}

interface Sums {
  readonly id: string
  readonly deposits: number
  /** As text, because a sum may be larger than a bigint. */
  readonly deposited: string
  readonly withdrawals: number
  readonly withdrawn: string
  readonly paidBefore: boolean
}

function readSums(db: ReadDb, asked: readonly Asked[], since: Date): Promise<Sums[]> {
  return db<Sums>`
    select asked.id, d.deposits, d.deposited, w.withdrawals, w.withdrawn, (
      select true from withdrawal p
      where p.player_id = asked.player_id and p.paid_at < coalesce(asked.paid_at, 'infinity') and p.id <> asked.id
      limit 1
    ) is not null as paid_before
    from ${unnest('asked', asked, columns)}
    cross join lateral (
      select count(*)::int as deposits, coalesce(sum(amount), 0)::text as deposited from deposit
      -- The first condition is that of the index.
      where player_id = asked.player_id and status <> 'failed' and status = 'confirmed' and created_at >= ${since}::timestamptz
    ) d
    cross join lateral (
      select count(*)::int as withdrawals, coalesce(sum(amount), 0)::text as withdrawn from withdrawal p
      where p.player_id = asked.player_id and p.paid_at >= ${since}::timestamptz and p.id <> asked.id
    ) w
    order by place
  `
}

/** Where the latest withdrawals went that were paid before each of these, by the id of the later one. */
async function readDestinations(db: ReadDb, asked: readonly Asked[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db<StoredDestination & { readonly id: string; readonly askedId: string }>`
    select asked.id as asked_id, before.id, before.destination, before.sealed_destination
    from ${unnest('asked', asked, columns)}
    cross join lateral (
      select p.id, p.destination, p.sealed_destination from withdrawal p
      where p.player_id = asked.player_id and p.paid_at < coalesce(asked.paid_at, 'infinity') and p.id <> asked.id
        and p.destination <> ${forgotten}
      order by p.paid_at desc limit ${destinationsMax}
    ) before
  `
  const found = Map.groupBy(opened<(typeof rows)[number]>(db, rows), ({ askedId }) => askedId)
  return new Map([...found].map(([id, before]) => [id, before.map(({ destination }) => destination)]))
}
