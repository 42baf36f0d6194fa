import type { Db, ReadDb } from '@backoffice/service-runtime'

/** What there is, in so many pieces. They stay the same: a proof takes some of them each time. */
export const piecesInAll = 128

/** When a piece was proven last, by a run that ended. */
interface Proof {
  readonly piece: number
  readonly at: Date | null
}

/** Of all pieces, the one first whose proof is the oldest. A time that cannot be is none. */
export const readProofs = (db: ReadDb): Promise<Proof[]> => db<Proof>`
  select n as piece, p.at from generate_series(0, ${piecesInAll}::int - 1) n
  left join reconciler.proof p on p.piece = n and p.at > '2000-01-01' and p.at < now() + interval '1 minute'
  order by p.at nulls first, n
`

export const oldestPieces = (proofs: readonly Proof[], most: number): readonly number[] =>
  proofs.slice(0, most).map(({ piece }) => piece)

/** Since when all was proven; null when some never was. */
export const provenSince = ([oldest]: readonly Proof[]): Date | null => oldest?.at ?? null

/** @param pieces null: all */
export async function keepProofs(db: Db, pieces: readonly number[] | null, at: Date): Promise<void> {
  await db`
    insert into reconciler.proof (piece, at)
    select n, ${at}::timestamptz from generate_series(0, ${piecesInAll}::int - 1) n
    where ${pieces}::int[] is null or n = any(${pieces}::int[])
    on conflict (piece) do update set at = excluded.at
  `
}

export async function forgetProofs(db: Db): Promise<void> {
  await db`delete from reconciler.proof`
}
