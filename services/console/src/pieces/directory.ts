import { type Environment, operations } from '@backoffice/contracts'
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

/** The cell of the player of a row, for the rows of one page. */
export async function playerCells(
  { person, address }: Visit,
  rows: readonly OfPlayer[],
): Promise<(row: OfPlayer) => Cell> {
  const find = await readPlayers(reading(person), rows)
  return (row) => link(find(row)?.name ?? row.playerId, address(`/players/${row.playerId}`))
}

/** The names of games by their ids; none while players, which has the catalogue, does not answer. */
export async function gameNames({ person }: Visit): Promise<ReadonlyMap<string, string>> {
  const { data } = await person.call(listGameProviders, {}).catch(whenAway({ data: [] }))
  return new Map(data.map(({ gameId, name }) => [gameId, name]))
}
