import { defined, type Input, namedPlayersMax, type Operation, operations, type Reply } from '@backoffice/contracts'

const { listOperators, listProviders } = operations.gateway
const { listGameProviders, namePlayers } = operations.players

type Query = Operation<string, 'query'>

/** How a program of the team reads what it can do without: undefined while the service does not answer. */
export type ReadOrNot = <O extends Query>(operation: O, input: Input<O>) => Promise<Reply<O> | undefined>

/** More are never there at once: whatever is read in pages comes to an end. */
const pagesMax = 50

interface Page<Row> {
  readonly data: readonly Row[]
  readonly nextCursor: string | null
}

/** Undefined while the service does not answer. */
async function all<Row>(read: (after: object) => Promise<Page<Row> | undefined>): Promise<readonly Row[] | undefined> {
  const rows: Row[] = []
  for (let pages = 0, after: object | undefined = {}; after !== undefined && pages < pagesMax; pages += 1) {
    const page: Page<Row> | undefined = await read(after)
    if (page === undefined) return undefined
    const { data, nextCursor }: Page<Row> = page
    rows.push(...data)
    after = nextCursor === null ? undefined : { after: nextCursor }
  }
  return rows
}

/** Who is meant by the ids that records carry: most services know nothing but those. */
export async function readNames(read: ReadOrNot) {
  const [providers, operators] = await Promise.all([
    all((after) => read(listProviders, { ...after, limit: 100 })),
    all((after) => read(listOperators, { ...after, limit: 200 })),
  ])
  const brands = (operators ?? []).flatMap(({ brands: own, id: operatorId, name }) =>
    own.map((brand) => ({ ...brand, operatorId, brandName: brand.name, name })),
  )
  const byBrand = new Map(brands.map((brand) => [brand.id, brand]))
  const names = new Map([...(providers ?? []), ...(operators ?? [])].map(({ id, name }) => [id, name]))
  return {
    /** The gateway did not answer: ids stand for names, and nobody knows which environment is whose. */
    isAway: providers === undefined || operators === undefined,
    providers: providers ?? [],
    brands,
    /** Of a provider, an operator, or the operator of a brand. */
    nameOf: (id: string) => names.get(id) ?? byBrand.get(id)?.name,
    brand: (brandId: string) => byBrand.get(brandId),
  }
}
export type KnownNames = Awaited<ReturnType<typeof readNames>>

/** A player as the wallet and payments know one. The brand is null where a row does not say it. */
export type OfPlayer = Input<typeof namePlayers>['players'][number]
type NamedPlayer = Reply<typeof namePlayers>['data'][number]

/** Finds the player of a row; undefined where nobody who knows it answers, or where it is a player of another brand. */
export type FindPlayer = (row: OfPlayer) => NamedPlayer | undefined

/** The players of rows. One id may come with several brands: a provider names whom it likes. */
export async function readPlayers(read: ReadOrNot, rows: readonly OfPlayer[]): Promise<FindPlayer> {
  const pairs = rows.map(({ playerId, brandId }) => [`${brandId} ${playerId}`, { playerId, brandId }] as const)
  const asked = [...new Map(pairs).values()]
  const found = new Map<string, NamedPlayer>()
  for (let from = 0; from < asked.length; from += namedPlayersMax) {
    const page = await read(namePlayers, { players: asked.slice(from, from + namedPlayersMax) })
    for (const player of page?.data ?? []) found.set(player.playerId, player)
  }
  return ({ playerId, brandId }) => {
    const player = found.get(playerId)
    return brandId === null || player?.brandId === brandId ? player : undefined
  }
}

type Given = Readonly<Record<string, unknown>>

const amountFields = ['amount', 'staked', 'dailyDepositLimit', 'maxWin'] as const
const ownerFields = ['playerId', 'operatorId', 'providerId', 'brandId', 'environment'] as const
/** Whether a field of a call says whom it is about. */
export const isOwner = (field: string): boolean => ownerFields.some((one) => one === field)
const aboutFields = [...ownerFields, 'currency', ...amountFields] as const

/** What a signed call was about: of a proposal, or of an entry of the trail. */
export interface Call {
  readonly input?: unknown
  /** Of an entry of the trail: the id of the record. */
  readonly subject?: string | null
}

export function signedInput({ input }: Call): { readonly given: Given; readonly seen: Given } {
  const { seen = {}, ...given } = (input ?? {}) as Given & { readonly seen?: Given }
  return { given, seen }
}

/** Whom a call is about, and how much: what was given with it, or else what was seen. Null is given too: it takes a limit away. */
function aboutOf(input: unknown): Partial<Readonly<Record<(typeof aboutFields)[number], string>>> {
  const { given, seen } = signedInput({ input })
  const known = aboutFields.map((field) => [field, field in given ? given[field] : seen[field]] as const)
  return Object.fromEntries(known.filter(([, value]) => typeof value === 'string'))
}

/** Whom a call is about, as they are called now. What was signed has their ids, and the name of an operator where its page showed it. */
export interface Subject {
  readonly playerId?: string | undefined
  readonly player?: string | undefined
  readonly operator?: string | undefined
  /** The name of its brand, which tells the sandbox from production. */
  readonly brand?: string | undefined
  /** Of a provider of games, or of the operator of a brand, by its id. */
  readonly nameOf?: (id: string) => string | undefined
  /** Of what it is about, where the call does not say it. */
  readonly currency?: string | undefined
}

export interface Subjects {
  readonly of: (call: Call) => Subject
}

const playerIdOf = ({ input, subject }: Call): string | undefined =>
  aboutOf(input).playerId ?? (subject?.startsWith('ply_') ? subject : undefined)

/** The names of all whom the calls are about, each read once. A page without them is better than none. */
export async function readSubjects(read: ReadOrNot, calls: readonly Call[]): Promise<Subjects> {
  const isAboutSomebody = (call: Call) => {
    const { operatorId, providerId, brandId } = aboutOf(call.input)
    return [operatorId, providerId, brandId, playerIdOf(call), call.subject].some((one) => one != null)
  }
  const known = calls.some(isAboutSomebody) ? await readNames(read) : undefined
  const brandOf = ({ input }: Call) => {
    const { brandId, operatorId, environment } = aboutOf(input)
    const own = known?.brands.find((one) => one.operatorId === operatorId && one.environment === environment)
    return brandId ?? own?.id
  }
  const ofPlayer = (call: Call): OfPlayer[] => {
    const playerId = playerIdOf(call)
    return playerId === undefined ? [] : [{ playerId, brandId: brandOf(call) ?? null }]
  }
  const findPlayer = await readPlayers(read, calls.flatMap(ofPlayer))
  const of = (call: Call): Subject => {
    const about = aboutOf(call.input)
    const playerId = playerIdOf(call)
    const [player] = ofPlayer(call).map(findPlayer)
    const nameOf = (id: string) => (id === playerId ? player?.name : known?.nameOf(id))
    const brandId = brandOf(call) ?? player?.brandId
    const brand = brandId === undefined ? undefined : known?.brand(brandId)
    const operatorId = about.operatorId ?? player?.operatorId
    return {
      playerId,
      player: player?.name,
      operator: operatorId === undefined ? undefined : nameOf(operatorId),
      brand: brand?.brandName,
      nameOf,
      currency: about.currency ?? brand?.currency,
    }
  }
  return { of }
}

/** The amount that a call is about; undefined where it is about none. */
export const amountIn = (input: unknown): string | undefined => {
  const about = aboutOf(input)
  return amountFields.map((field) => about[field]).find((amount) => amount !== undefined)
}

/** The same as a line of text: the record, whose it is, how much, and what else was given. Commands take a player by the id. */
function lineOf({ input, subject }: Call, { playerId, player, operator, brand, nameOf, currency }: Subject): string {
  const { given } = signedInput({ input })
  const { operatorId, providerId, brandId, environment } = aboutOf(input)
  const amount = amountIn(input)
  const record = subject == null || subject === playerId ? undefined : (nameOf?.(subject) ?? subject)
  const owner = (environment === undefined ? brand : undefined) ?? operator ?? operatorId ?? brandId
  const provider = providerId && (nameOf?.(providerId) ?? providerId)
  const rest = Object.entries(given).filter(([field, value]) => !isOwner(field) && value !== amount)
  // An entry of the trail has all of it below.
  const more = subject === undefined && rest.length > 0 ? JSON.stringify(Object.fromEntries(rest)) : undefined
  const parts = [
    ...[record, player, playerId, owner === record ? undefined : owner],
    ...[provider, environment, amount, amount === undefined ? undefined : currency, more],
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}

const idFields = ['playerId', 'gameId', 'operatorId', 'providerId', 'brandId'] as const
const nameField = (field: string) => field.replace(/Id$/, 'Name')

/** For a program that shows text: rows with the names of whom their ids mean, and the currency of their amounts. */
export async function withNames<Row extends object>(read: ReadOrNot, rows: readonly Row[]): Promise<readonly Row[]> {
  const idsOf = (row: Row) =>
    idFields.flatMap((field) => {
      const id = (row as Given)[field]
      // A list of players or games has their names itself.
      const isNamed = nameField(field) in row || ('name' in row && /^(player|game)Id$/.test(field))
      return typeof id === 'string' && !isNamed ? [[field, id] as const] : []
    })
  const isCall = (row: Row): row is Row & Call => 'input' in row || 'subject' in row
  const callOf = (row: Row): Call => (isCall(row) ? row : idsOf(row).length > 0 ? { input: row } : {})
  const [subjects, games] = await Promise.all([
    readSubjects(read, rows.map(callOf)),
    rows.some((row) => idsOf(row).some(([field]) => field === 'gameId')) ? read(listGameProviders, {}) : undefined,
  ])
  return rows.map((row) => {
    const subject = subjects.of(callOf(row))
    const nameOf = (field: string, id: string) =>
      field === 'brandId'
        ? subjects.of({ input: { brandId: id } }).brand
        : (subject.nameOf?.(id) ?? games?.data.find(({ gameId }) => gameId === id)?.name)
    const names = idsOf(row).map(([field, id]) => [nameField(field), nameOf(field, id)])
    // A limit of a brand is in the currency of that.
    return {
      ...defined({ currency: subject.currency }),
      ...row,
      ...Object.fromEntries(names),
      ...(isCall(row) ? { about: lineOf(row, subject) } : {}),
    }
  })
}
