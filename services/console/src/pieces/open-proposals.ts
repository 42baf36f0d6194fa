import {
  allOperations,
  type Input,
  type Operation,
  operations,
  type Proposal,
  type ServiceName,
  serviceNames,
} from '@backoffice/contracts'
import { isSame, type Who } from '@backoffice/team-identity'
import type { Person } from '../identity/person.ts'
import { askEach } from './away.ts'
import { beforeOf, rowsOnPage } from './queue.ts'

/** A proposal, and the call that it would carry out. */
export interface FoundProposal extends Proposal {
  readonly service: ServiceName
  /** Undefined where a newer release of the service proposes what this console does not know. */
  readonly call: Operation | undefined
}

type Wanted = Input<typeof operations.wallet.listProposals>

const forTwo = allOperations.filter(({ twoPeople }) => twoPeople !== undefined)

/** The newest first, and the services that did not answer: each service keeps the proposals that it would carry out. */
export async function findProposals(
  person: Person,
  wanted: Wanted,
  from: readonly ServiceName[] = serviceNames.filter((name) => forTwo.some(({ service }) => service === name)),
) {
  const { replies, missing } = await askEach(from, async (service) => {
    const { data, ...page } = await person.call(operations[service].listProposals, wanted)
    return { ...page, data: data.map((proposal) => ({ ...proposal, service, call: callOf(service, proposal) })) }
  })
  const { rows, end } = merged<FoundProposal>(replies, newestFirst)
  const { shown: proposals, last } = cutOff(rows, wanted.limit, end)
  return { proposals, nextCursor: last?.id ?? null, missing }
}

/** Ids are ordered by time, whichever service made them. */
const newestFirst = (a: FoundProposal, b: FoundProposal): number => (a.id < b.id ? 1 : -1)

const callOf = (service: ServiceName, { operation }: Proposal): Operation | undefined =>
  forTwo.find((known) => known.service === service && known.id === operation)

const readsMax = 5

/** Those that are open no more. A page that is full of open ones has nothing to show, so it goes on for a while. */
export async function findDecided(person: Person, cursor: string | undefined): ReturnType<typeof findProposals> {
  let before = cursor
  for (let reads = 1; ; reads += 1) {
    const found = await findProposals(person, { limit: rowsOnPage, ...beforeOf(before) })
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
