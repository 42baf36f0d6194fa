import { type Environment, operations, type Reply } from '@backoffice/contracts'
import { type KnownNames, type OfPlayer, type ReadOrNot, readNames, readPlayers } from '@backoffice/team-rows'
import { whenAway } from '../identity/person.ts'
import { type Cell, id, link } from './cells.ts'
import type { Visit } from './visit.ts'

const { listGameProviders } = operations.players

/** Reads what a page can be shown without. */
export const reading =
  ({ call }: Pick<Visit['person'], 'call'>): ReadOrNot =>
  (operation, input) =>
    call(operation, input).catch(whenAway(undefined))

/** Who is meant by the ids that rounds carry: the services of play know nothing but those. */
export interface Directory extends KnownNames {
  /** The name behind an id; the id itself, where nobody who knows it answers. */
  readonly providerName: (providerId: string) => string
  readonly operatorName: (brandId: string) => string
  readonly brandIdsIn: (environment: Environment) => string[]
  readonly providerCell: (providerId: string) => Cell
  readonly brandCell: (brandId: string) => Cell
}

export async function directoryOf({ person, address }: Pick<Visit, 'person' | 'address'>): Promise<Directory> {
  const known = await readNames(reading(person))
  const { brands, nameOf } = known
  return {
    ...known,
    providerName: (providerId) => nameOf(providerId) ?? providerId,
    operatorName: (brandId) => nameOf(brandId) ?? brandId,
    brandIdsIn: (environment) => brands.filter((brand) => brand.environment === environment).map((brand) => brand.id),
    providerCell(providerId) {
      const name = nameOf(providerId)
      return name === undefined ? id(providerId) : link(name, address(`/providers/${providerId}`))
    },
    brandCell(brandId) {
      const brand = known.brand(brandId)
      return brand === undefined ? id(brandId) : link(brand.name, address(`/operators/${brand.operatorId}`))
    },
  }
}

export interface PlayerNames {
  /** Undefined where nobody who knows it answers, or where it is a player of another brand. */
  readonly find: (playerId: string) => Reply<typeof operations.players.namePlayers>['data'][number] | undefined
  readonly cell: (playerId: string) => Cell
}

/** The players of the rows of one page. */
export async function playerNames({ person, address }: Visit, rows: readonly OfPlayer[]): Promise<PlayerNames> {
  const known = await readPlayers(reading(person), rows)
  return {
    find: (playerId) => known.get(playerId),
    cell: (playerId) => link(known.get(playerId)?.name ?? playerId, address(`/players/${playerId}`)),
  }
}

/** The names of games by their ids; none while players, which has the catalogue, does not answer. */
export async function gameNames({ person }: Visit): Promise<ReadonlyMap<string, string>> {
  const { data } = await person.call(listGameProviders, {}).catch(whenAway({ data: [] }))
  return new Map(data.map(({ gameId, name }) => [gameId, name]))
}
