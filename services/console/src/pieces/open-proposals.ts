import {
  allOperations,
  type FieldSchema,
  fromMinorUnits,
  type Input,
  type Operation,
  operations,
  type Proposal,
  Rejection,
  type ServiceName,
  serviceNames,
  toMinorUnits,
  valueSchema,
} from '@backoffice/contracts'
import { isSame, type Who } from '@backoffice/team-access/identity'
import { amountIn, type Call, isOwner, readSubjects, type Subject, signedInput } from '@backoffice/team-rows'
import { askEach, type Person } from '../identity/person.ts'
import { type Cell, type Display, id, lines, link, money, nothing, text } from './cells.ts'
import { reading } from './directory.ts'
import { beforeOf } from './queue.ts'
import type { Visit } from './visit.ts'

/** A proposal, and the call that it would carry out. */
export interface FoundProposal extends Proposal {
  readonly service: ServiceName
  /** Undefined where a newer release of the service proposes what this console does not know. */
  readonly call: Operation | undefined
}

type Wanted = Input<typeof operations.wallet.listProposals>

const forTwo = allOperations.filter(({ twoPeople }) => twoPeople !== undefined)

/** Each service keeps the proposals that it would carry out. */
const keepers = serviceNames.filter((name) => forTwo.some(({ service }) => service === name))

/** The newest first, and the services that did not answer. */
export async function findProposals(person: Person, wanted: Wanted, from: readonly ServiceName[] = keepers) {
  const { replies, missing } = await askEach(from, async (service) => {
    const { data, ...page } = await person.call(operations[service].listProposals, wanted)
    return { ...page, data: data.map((proposal) => ({ ...proposal, service, call: callOf(service, proposal) })) }
  })
  const { rows, end } = merged<FoundProposal>(replies, newestFirst)
  const { shown: proposals, last } = cutOff(rows, wanted.limit, end)
  return { proposals, nextCursor: last?.id ?? null, missing }
}

/**
 * One of them, from the service that keeps it: the others are not waited for.
 * @throws {Rejection} PROPOSAL_NOT_FOUND; SERVICE_UNAVAILABLE where a service that does not answer may keep it
 */
export async function findProposal(person: Person, proposalId: string): Promise<FoundProposal> {
  const asked = keepers.map((keeper) => findProposals(person, { proposalId, limit: 1 }, [keeper]))
  const found = asked.map(async (reply) => {
    const [proposal] = (await reply).proposals
    return proposal ?? Promise.reject(new Rejection('PROPOSAL_NOT_FOUND'))
  })
  try {
    return await Promise.any(found)
  } catch {
    const replies = await Promise.all(asked)
    const isSomebodyAway = replies.some(({ missing }) => missing.length > 0)
    throw new Rejection(isSomebodyAway ? 'SERVICE_UNAVAILABLE' : 'PROPOSAL_NOT_FOUND')
  }
}

/** Ids are ordered by time, whichever service made them. */
const newestFirst = (a: FoundProposal, b: FoundProposal): number => (a.id < b.id ? 1 : -1)

const callOf = (service: ServiceName, { operation }: Proposal): Operation | undefined =>
  forTwo.find((known) => known.service === service && known.id === operation)

const readsMax = 5

/** Those that are open no more. A page that is full of open ones has nothing to show, so it goes on for a while. */
export async function findDecided(
  person: Person,
  cursor: string | undefined,
  limit: number,
): ReturnType<typeof findProposals> {
  let before = cursor
  for (let reads = 1; ; reads += 1) {
    const found = await findProposals(person, { limit, ...beforeOf(before) })
    const proposals = found.proposals.filter(({ state }) => state !== 'open')
    if (proposals.length > 0 || found.nextCursor === null || reads === readsMax) return { ...found, proposals }
    before = found.nextCursor
  }
}

/** Whether somebody is asked to decide: it was not them who proposed, and they have a role for it. */
export const waitsFor = (person: Person, proposal: FoundProposal): boolean => {
  const { state, call } = proposal
  return state === 'open' && !isOwn(person, proposal) && call !== undefined && person.mayCall(call)
}

/** Whether somebody proposed it themselves, by their account or their name, as the services judge it. */
export const isOwn = (person: Who, { proposedBy: name, proposedById: id }: Proposal): boolean =>
  isSame({ id: id ?? '', name }, person)

/** As many as one looks at for the count beside the menu. */
const countedMax = 200

/**
 * What waits for somebody's decision. Services in which they can approve nothing are not asked, and neither is one that
 * would have to be started for each page: the page of proposals asks it.
 */
export async function proposalsFor(person: Person): Promise<readonly FoundProposal[]> {
  const theirs = person.resident.filter((name) => forTwo.some((call) => call.service === name && person.mayCall(call)))
  const { proposals } = await findProposals(person, { state: 'open', limit: countedMax }, theirs)
  return proposals.filter((proposal) => waitsFor(person, proposal))
}

/** A page of what one service keeps, newest first. */
interface ServicePage<Row> {
  readonly data: readonly Row[]
  readonly nextCursor?: string | null
}

/** Sorts the newer of two rows first. No two rows are equal. */
type NewestFirst<Row> = (a: Row, b: Row) => number

/**
 * The pages of several services as one, newest first. Where one of them was cut off, the others end too: what is older comes
 * with the next page.
 * @returns with the row at which it ends, if more follow
 */
export function merged<Row>(
  pages: readonly ServicePage<Row>[],
  newestFirst: NewestFirst<Row>,
): { readonly rows: readonly Row[]; readonly end: Row | undefined } {
  const ends = pages.flatMap(({ data, nextCursor = null }) => (nextCursor === null ? [] : data.slice(-1)))
  const [end] = ends.sort(newestFirst)
  const rows = pages
    .flatMap(({ data }) => data)
    .filter((row) => end === undefined || newestFirst(row, end) <= 0)
    .sort(newestFirst)
  return { rows, end }
}

/** At most so many of the rows, and the one after which the next page begins. */
export function cutOff<Row>(rows: readonly Row[], rowsMax: number, end: Row | undefined) {
  const shown = rows.slice(0, rowsMax)
  return { shown, last: rows.length > rowsMax ? shown.at(-1) : end }
}

type Signed = Pick<Proposal, 'operation' | 'input'> & { readonly call: Operation | undefined }

/** What a proposal would do and to whom, in one sentence, of nothing but the call that its proposer signed, and names. */
export function sentenceOf(display: Display, proposal: Signed, names: Subject = {}): string {
  const { given, seen } = signedInput(proposal)
  const { t, word } = display
  const about = { ...seen, ...given }
  const player = names.player ?? textOf(about.playerId)
  const named = (id: unknown): string => names.nameOf?.(textOf(id)) ?? textOf(id)
  const operator = names.operator ?? textOf(seen.name ?? about.operatorId ?? named(about.providerId))
  const environment = about.environment === undefined ? '' : word('value', textOf(about.environment))
  const where = [operator, environment].filter((part) => part !== '').join(', ')
  const whom = player === '' || where === '' ? player || where : `${player} (${where})`
  const moved = movedBy(proposal)
  if (moved !== undefined) {
    const { currency, type } = seen as { readonly currency: string; readonly type?: string }
    const [name, amount] = moved.startsWith('-') ? (['Down', moved.slice(1)] as const) : (['Up', moved] as const)
    const kind = type === undefined ? 'adjust' : 'reverse'
    const values = {
      whom,
      amount: display.money(amount, currency),
      type: word('value', type ?? ''),
      reference: textOf(given.transferId),
    }
    return t(`${kind}${name}`, values)
  }
  if (proposal.operation === operations.payments.endCommand.id) {
    const { amount, currency, depositId } = seen as Readonly<Record<'amount' | 'currency' | 'depositId', string>>
    return t('giveUp', { whom, amount: display.money(amount, currency), depositId })
  }
  if (isOfPlay(proposal)) {
    const { currency = '' } = seen as { readonly currency?: string }
    const amount = display.money(textOf(seen.staked ?? seen.amount), currency)
    const parts = { provider: named(about.providerId), operator: named(about.brandId), player }
    return t(`${proposal.operation}What`, { ...parts, amount, id: textOf(given.roundId ?? given.transactionId) })
  }
  const all = Object.entries(given).filter(([field]) => field === 'brandId' || !isOwner(field))
  const others = all.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(seen[field]))
  // Where it is so already, it says what.
  const changes = (others.length === 0 ? all : others).map(([field, value]) =>
    changeOf(display, proposal, {
      currency: textOf(about.currency ?? names.currency),
      field,
      value: field === 'brandId' ? named(value) : value,
      before: seen[field],
    }),
  )
  return [word('operation', proposal.operation), [whom, ...changes].filter((part) => part !== '').join('; ')].join(': ')
}

const { voidRound, endRound, releaseWin } = operations.wallet
const ofPlay = [voidRound.id, endRound.id, releaseWin.id] as const

const isOfPlay = (proposal: Signed): proposal is Signed & { readonly operation: (typeof ofPlay)[number] } =>
  ofPlay.some((known) => known === proposal.operation)

/** By how much it would change the player's balance, which has the signed currency. Undefined: by nothing. */
export function movedBy(proposal: Signed): string | undefined {
  const { given, seen } = signedInput(proposal)
  if (typeof seen.currency !== 'string') return undefined
  if (proposal.operation === operations.wallet.adjustWallet.id) return textOf(given.amount)
  if (proposal.operation !== operations.wallet.reverseTransfer.id) return undefined
  return fromMinorUnits(-toMinorUnits(textOf(seen.amount)))
}

/** The amount that it is about, or the limit that it sets, as its proposer signed it; undefined where it is about none. */
export function amountOf(
  proposal: Signed,
  names: Pick<Subject, 'currency'>,
): { readonly amount: string; readonly currency: string } | undefined {
  const { given, seen } = signedInput(proposal)
  const amount = movedBy(proposal) ?? seen.staked ?? seen.amount ?? given.maxWin
  // The limit of a win is in the currency of its brand.
  const currency = seen.currency ?? names.currency
  return typeof amount === 'string' && typeof currency === 'string' ? { amount, currency } : undefined
}

interface Change {
  /** Empty where nobody knows it. */
  readonly currency: string
  readonly field: string
  readonly value: unknown
  readonly before: unknown
}

function changeOf(display: Display, { call }: Signed, { currency, field, value, before }: Change): string {
  const { properties } = (call?.body ?? {}) as FieldSchema
  const isTime = valueSchema((properties?.[field] ?? {}) as FieldSchema).format === 'date-time'
  const shown = (one: unknown): string => {
    if (Array.isArray(one)) return one.length === 0 ? display.none(field) : one.join(', ')
    if (one === null || one === '') return display.none(field)
    if (currency !== '' && /^-?\d+\.\d\d$/.test(textOf(one))) return display.money(textOf(one), currency)
    return isTime ? display.time(textOf(one)) : display.word('value', textOf(one), field)
  }
  const isSame = before === undefined || JSON.stringify(before) === JSON.stringify(value)
  const change = isSame ? shown(value) : `${shown(before)} → ${shown(value)}`
  return `${display.word('field', field)}: ${change}`
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

/** The names of all whom the calls of one page are about. */
export const subjectsOf = ({ person }: Visit, calls: readonly Call[]) => readSubjects(reading(person), calls)

/** The record of an entry, by a name where it has one; else with the names of its player and operator, and the amount. */
export function subjectCell(
  { address }: Visit,
  { input, subject }: Call,
  { player, playerId, operator, nameOf, currency }: Subject,
  placeOf: (id: string) => string | undefined,
): Cell {
  const amount = amountIn(input)
  const linked = (shown: string, one: string) => {
    const place = placeOf(one)
    return place === undefined ? (shown === one ? id(one) : text(shown)) : link(shown, address(place))
  }
  return lines(
    subject == null ? nothing : linked(nameOf?.(subject) ?? subject, subject),
    playerId === undefined || playerId === subject || player === undefined ? nothing : linked(player, playerId),
    operator === undefined || nameOf?.(subject ?? '') === operator ? nothing : text(operator),
    amount === undefined || currency === undefined ? nothing : money(amount, currency),
  )
}
