import { type ReadDb, unnest } from '@backoffice/service-runtime'
import { isAnonymised } from '../domain/anonymity.ts'
import type { PlayerRecord } from '../domain/player.ts'
import { type PersonExclusion, type SeenPlayer, seen } from '../domain/responsible-gaming.ts'
import { cpfDigestsOf } from './sealed-identity.ts'

/** Whose CPF it is, within a brand. */
interface PersonKey {
  readonly brandId: string
  readonly cpfDigest: string
}

type ExcludedPlayer = PersonExclusion & PersonKey

const nameOf = ({ brandId, cpfDigest }: PersonKey) => `${brandId} ${cpfDigest}`

/** A key for each master key: players of one person may be stored under several while a new one comes in. */
const keysOf = ({ vault }: ReadDb, { brandId, cpf }: PlayerRecord): PersonKey[] =>
  isAnonymised({ cpf }) ? [] : cpfDigestsOf(vault, cpf).map((cpfDigest) => ({ brandId, cpfDigest }))

/**
 * Players as everybody sees them now, by PostgreSQL's clock, in order. A self-exclusion holds for every player of the person
 * in the brand.
 */
export async function seePlayers<P extends PlayerRecord | undefined>(
  db: ReadDb,
  players: readonly P[],
): Promise<(SeenPlayer | Extract<P, undefined>)[]> {
  const keys = players.map((player) => (player === undefined ? [] : keysOf(db, player)))
  const asked = new Map(keys.flat().map((key) => [nameOf(key), key]))
  const rows = await db<{ now: Date } & (ExcludedPlayer | { id: null })>`
    select now, id, brand_id, cpf_digest, status, self_excluded_from, self_excluded_until
    from now() left join (
      select id, brand_id, cpf_digest, status, self_excluded_from, self_excluded_until from player
      join ${unnest('asked', [...asked.values()], 'brand_id text, cpf_digest text')} using (brand_id, cpf_digest)
      -- As the index says it.
      where status = 'autoexcluido' or self_excluded_from is not null
    ) excluded on true
  `
  const [{ now }] = rows as [(typeof rows)[0]]
  const byPerson = Map.groupBy(
    rows.filter((row) => row.id !== null),
    nameOf,
  )
  return players.map((player, index) => {
    if (player === undefined) return player as Extract<P, undefined>
    const others = (keys[index] ?? []).flatMap((key) => byPerson.get(nameOf(key)) ?? [])
    // This one may have been changed since it was read.
    const without = others.filter(({ id }) => id !== player.id)
    return seen(player, without, now)
  })
}

export async function seePlayer(db: ReadDb, player: PlayerRecord): Promise<SeenPlayer> {
  const [one] = await seePlayers(db, [player])
  return one as SeenPlayer
}
