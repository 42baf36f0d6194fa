import {
  type Environment,
  namedPlayersMax,
  type OperatorRecord,
  operations,
  type ProviderRecord,
  type Reply,
} from '@backoffice/contracts'
import { whenAway } from '../identity/person.ts'
import { type Cell, id, link } from './cells.ts'
import type { Visit } from './visit.ts'

const { listOperators, listProviders } = operations.gateway
const { listGameProviders, namePlayers } = operations.players

/** More are never there at once: whatever is read in pages comes to an end. */
const pagesMax = 50

type Brand = OperatorRecord['brands'][number] & Pick<OperatorRecord, 'name'> & { readonly operatorId: string }

/** Who is meant by the ids that rounds carry: the services of play know nothing but those. */
export interface Directory {
  /** The gateway, which knows the names, did not answer: ids stand for them, and nobody knows which environment is whose. */
  readonly isAway: boolean
  readonly providers: readonly ProviderRecord[]
  readonly brands: readonly Brand[]
  /** Of a provider, an operator, or the operator of a brand. */
  readonly nameOf: (id: string) => string | undefined
  /** The name behind an id; the id itself, where nobody who knows it answers. */
  readonly providerName: (providerId: string) => string
  readonly operatorName: (brandId: string) => string
  readonly brand: (brandId: string) => Brand | undefined
  readonly brandIdsIn: (environment: Environment) => string[]
  readonly providerCell: (providerId: string) => Cell
  readonly brandCell: (brandId: string) => Cell
}

interface Page<Row> {
  readonly data: readonly Row[]
  readonly nextCursor: string | null
}

/** Undefined while the service does not answer. */
export async function all<Row>(read: (after: object) => Promise<Page<Row>>): Promise<readonly Row[] | undefined> {
  const rows: Row[] = []
  for (let pages = 0, after: object | undefined = {}; after !== undefined && pages < pagesMax; pages += 1) {
    const page: Page<Row> | undefined = await read(after).catch(whenAway(undefined))
    if (page === undefined) return undefined
    const { data, nextCursor }: Page<Row> = page
    rows.push(...data)
    after = nextCursor === null ? undefined : { after: nextCursor }
  }
  return rows
}

export async function directoryOf({ person, address }: Pick<Visit, 'person' | 'address'>): Promise<Directory> {
  const [providers, operators] = await Promise.all([
    all((after) => person.call(listProviders, { ...after, limit: 100 })),
    all((after) => person.call(listOperators, { ...after, limit: 200 })),
  ])
  const isAway = providers === undefined || operators === undefined
  const brands = (operators ?? []).flatMap(({ brands: own, id: operatorId, name }) =>
    own.map((brand) => ({ ...brand, operatorId, name })),
  )
  const byBrand = new Map(brands.map((brand) => [brand.id, brand]))
  const byOperator = new Map(operators?.map((operator) => [operator.id, operator.name]))
  const byProvider = new Map(providers?.map((provider) => [provider.id, provider.name]))
  return {
    isAway,
    providers: providers ?? [],
    brands,
    nameOf: (one) => byProvider.get(one) ?? byBrand.get(one)?.name ?? byOperator.get(one),
    providerName: (providerId) => byProvider.get(providerId) ?? providerId,
    operatorName: (brandId) => byBrand.get(brandId)?.name ?? brandId,
    brand: (brandId) => byBrand.get(brandId),
    brandIdsIn: (environment) => brands.filter((brand) => brand.environment === environment).map((brand) => brand.id),
    providerCell(providerId) {
      const name = byProvider.get(providerId)
      return name === undefined ? id(providerId) : link(name, address(`/providers/${providerId}`))
    },
    brandCell(brandId) {
      const brand = byBrand.get(brandId)
      return brand === undefined ? id(brandId) : link(brand.name, address(`/operators/${brand.operatorId}`))
    },
  }
}

/** Whom rows are about, as the wallet and payments know a player. */
interface OfPlayer {
  readonly playerId: string
  /** Null where a row does not say it. */
  readonly brandId: string | null
}

export interface PlayerNames {
  /** Undefined where nobody who knows it answers, or where it is a player of another brand. */
  readonly find: (playerId: string) => Reply<typeof namePlayers>['data'][number] | undefined
  readonly cell: (playerId: string) => Cell
}

/** The players of the rows of one page, read with one call. */
export async function playerNames({ person, address }: Visit, rows: readonly OfPlayer[]): Promise<PlayerNames> {
  const asked = new Map(rows.map(({ playerId, brandId }) => [playerId, { playerId, brandId }]))
  const players = [...asked.values()].slice(0, namedPlayersMax)
  const { data } =
    players.length === 0 ? { data: [] } : await person.call(namePlayers, { players }).catch(whenAway({ data: [] }))
  const known = new Map(data.map((player) => [player.playerId, player]))
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
