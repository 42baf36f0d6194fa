import { defined, type Operation, operations, type Reply, type ServiceName } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import type { Word } from '../words/index.ts'
import { type Fact, link, type Row } from './cells.ts'
import type { Chart } from './chart.ts'
import { ageAsked, type Filter, valuesOf, withQuery } from './filters.ts'
import { detailLines } from './refusals.ts'
import { type Decision, rolesFor, type SentForm, type ShownDecision, shownDecision, type Visit } from './visit.ts'

export const rowsOnPage = 50

/** Where a page of a list begins; nothing for the first one. */
export const beforeOf = (cursor: string | undefined) => defined({ before: cursor })

/**
 * The row that somebody goes on to: the next free one after the one that they come from, and from the last one the first.
 * Where that one has left the queue, the one that waits longest.
 */
export function rowAfter<Row>(rows: readonly Row[], isHere: (row: Row) => boolean, isFree: (row: Row) => boolean) {
  const here = rows.findIndex(isHere)
  return [...rows.slice(here + 1), ...rows.slice(0, Math.max(here, 0))].find(isFree)
}

export interface Tab {
  readonly label: Word
  readonly href: string
  readonly current: boolean
  /** The count that stands beside it. */
  readonly count?: Word
  /** How many it has, as the page was made. */
  readonly counted?: string | undefined
}

/** What the records of a filter add up to, each status for itself. */
export type Sums = Reply<typeof operations.payments.sumDeposits | typeof operations.payments.sumWithdrawals>

/** What a page draws, with its figures as rows for whoever does not see it. */
export interface Picture {
  readonly title: string
  readonly charts?: readonly Chart[]
  readonly rows?: readonly Row[]
  /** What is said about it; without charts instead of them. */
  readonly remark?: string
  /** The rows lead somewhere, so they are not folded. */
  readonly isOpen?: boolean
  /** It has many columns. */
  readonly isWide?: boolean
  /** It is left out, since this service does not answer. */
  readonly away?: ServiceName
}

/** Said of rows that end where no more are read. */
export const firstOnly = ({ display }: Pick<Visit, 'display'>, { length }: readonly unknown[], most: number) =>
  defined({ remark: length < most ? undefined : display.t('firstOnly', { count: most }) })

export interface Section {
  readonly title?: Word
  readonly tabs?: readonly Tab[]
  readonly remark?: string | undefined
  /** Drawn above the rows, which have the same figures. */
  readonly charts?: readonly Chart[]
  readonly rows: readonly Row[]
  /** Its rows are not of the list: they stand above each page of it. */
  readonly isAbove?: true
  /** Of the whole filter, below the rows. Undefined too while the service that knows them does not answer. */
  readonly sums?: Sums | undefined
}

export interface ListFrame {
  readonly title: Word
  /** The record whose list it is. */
  readonly about?: { readonly name: string; readonly href: string }
  readonly tabs?: readonly Tab[]
  /** The form that makes one more. */
  readonly create?: { readonly href: string; readonly label: Word } | undefined
  /** What can be done besides looking. */
  readonly decisions?: readonly Decision[]
  readonly sent?: SentForm | undefined
  readonly filter?: Filter
  /** Of the same rows as a file. */
  readonly csv?: string | undefined
  readonly progress?: { readonly done: number; readonly total: number }
  readonly remark?: string | undefined
  /** The services that did not answer. */
  readonly missing?: readonly ServiceName[] | undefined
  readonly sections?: readonly Section[]
  /** What is said where there are no rows. */
  readonly empty?: Word
  /** Of its first page, without the filter. */
  readonly path: string
  readonly nextCursor?: string | null | undefined
  /** How many rows there are on all pages, where that is counted. */
  readonly total?: number | undefined
  /** In which orders it can be read; the first one unless another is asked for. */
  readonly orders?: readonly string[]
}

/** Of so many pages the way back is kept in the address. */
const wayMax = 20
/** Stands where the way is cut: what was before it is reached from the first page. */
const cut = '-'
/** A cursor may be the name of an operator, or what a provider calls its transaction: any characters. */
const placeOf = (row: number, after: string): string => `${row}~${encodeURIComponent(after)}`

function placeIn(place: string) {
  const [, row = '', after = ''] = /^(\d*)~(.*)$/.exec(place) ?? []
  return { after: new URLSearchParams(`after=${after}`).get('after') ?? '', row }
}

/**
 * Cursors lead forward alone. So the address of a page has the pages between the first one and it, each as the number of its
 * first row and the cursor where it begins.
 */
export function pagesOf(
  { query, address }: Pick<Visit, 'query' | 'address'>,
  path: string,
  { rows, nextCursor }: { readonly rows: number; readonly nextCursor: ListFrame['nextCursor'] },
) {
  const isFirst = query.after === undefined
  const firstRow = isFirst ? 1 : Math.max(2, Math.trunc(Number(query.row)) || 2)
  const way = (query.way ?? '').split(',').filter((place) => place !== '')
  const addressOf = (place: string, before: readonly string[]) => {
    const at = { ...placeIn(place), ...(before.length === 0 ? {} : { way: before.join(',') }) }
    return address(withQuery(path, new URLSearchParams(at).toString()))
  }
  const walked = isFirst ? [] : [...way, placeOf(firstRow, query.after ?? '')]
  const kept = walked.length > wayMax ? [cut, ...walked.slice(-wayMax)] : walked
  const before = way.at(-1)
  return {
    firstRow,
    more: nextCursor ? addressOf(placeOf(firstRow + rows, nextCursor), kept) : undefined,
    previous:
      isFirst || before === cut
        ? undefined
        : before === undefined
          ? address(path)
          : addressOf(before, way.slice(0, -1)),
    firstPage: before === undefined ? undefined : address(path),
  }
}

/** The order that the address asks for; undefined for the first one. */
export const orderAsked = <Order extends string>({ query }: Visit, orders: readonly Order[]): Order | undefined =>
  orders.slice(1).find((order) => order === query.order)

/** How a queue is read: as the address of its page says, of a case that was opened there, or of the next one. */
export const queueAsked = <Order extends string>(visit: Visit, orders: readonly Order[]) => ({
  ...{ environment: visit.environment, limit: visit.display.rowsEach, ...ageAsked(visit)?.period },
  ...defined({ after: visit.query.after, order: orderAsked(visit, orders) }),
})

/** The same as part of an address. */
export const wayOf = (visit: Visit, fields: readonly string[] = ['age', 'order', 'after']): string =>
  new URLSearchParams(valuesOf(visit, fields)).toString()

/** Which rows of the list these are, where they are not all of it. */
function rangeOf(
  { display }: Visit,
  firstRow: number,
  { rows, total, isPart }: { readonly rows: number; readonly total: number | undefined; readonly isPart: boolean },
) {
  if (rows === 0 || !isPart) return undefined
  const shown = (place: number) => display.number(String(place))
  const range = { from: shown(firstRow), to: shown(firstRow + rows - 1) }
  // They are counted apart: somebody may have decided in between.
  return total === undefined || total < firstRow + rows - 1
    ? display.t('rowsShown', range)
    : display.t('rowsOf', { ...range, total: shown(total) })
}

/** A page of lists under one head. */
export function showLists(visit: Visit, list: ListFrame): FastifyReply {
  const { path, nextCursor, csv, decisions = [], missing = [], sent, total, orders = [], ...others } = list
  const order = orderAsked(visit, orders)
  const filtered = [list.filter?.query ?? '', order === undefined ? '' : `order=${order}`].reduce(withQuery, path)
  const listed = (list.sections ?? []).filter(({ isAbove }) => isAbove !== true)
  const rows = listed.reduce((sum, section) => sum + section.rows.length, 0)
  const { firstRow, ...pages } = pagesOf(visit, filtered, { rows, nextCursor })
  const shown = decisions.map((decision) => shownDecision(visit, decision, filtered, sent))
  const namesOf = (services: readonly string[]) =>
    services.map((service) => visit.display.word('service', service)).join(', ')
  return visit.show('list', {
    tabs: [],
    sections: [],
    empty: `empty.${list.title}`,
    ...others,
    ...ownAndOthers(visit, shown),
    lost: refusalWithoutForm(visit, shown, sent),
    missing: namesOf(missing.filter((service) => !visit.late.has(service))),
    csv: csv && visit.address(withQuery(csv, list.filter?.query ?? '')),
    ...pages,
    range: rangeOf(visit, firstRow, { rows, total, isPart: firstRow > 1 || Boolean(nextCursor) }),
    orders: orders.map((name, index) => ({
      label: `order.${name}`,
      href: visit.address(index === 0 ? path : withQuery(path, `order=${name}`)),
      current: name === (order ?? orders[0]),
    })),
  })
}

export const showList = (visit: Visit, { rows, sums, ...list }: Omit<ListFrame, 'sections'> & Section): FastifyReply =>
  showLists(visit, { ...list, sections: [{ rows, sums }] })

/** What a list says to whoever came by a link and may not read it. */
export const showNotYours = (visit: Visit, list: Pick<ListFrame, 'title' | 'path' | 'about'>, operation: Operation) =>
  showLists(visit, { ...list, remark: visit.display.t('notYours', { roles: rolesFor(visit, operation) }) })

/** A record on a page of its own: what is known of it, and what can be done. */
interface Case {
  /** Of this page, without the environment. */
  readonly path: string
  readonly title: string
  /** What kind of record it is. It leads to `list`. */
  readonly about: string
  readonly list?: string | undefined
  /** The next one that waits. */
  readonly next?: string
  /** What came out, in one sentence. */
  readonly verdict?: { readonly kind: 'done' | 'refused'; readonly text: string } | undefined
  /** How far something has come that goes on, and where its events and its result are. */
  readonly progress?: {
    readonly check: string
    readonly done: number
    readonly total: number
    readonly live: string
    readonly page: string
  }
  readonly facts: readonly Fact[]
  readonly pictures?: readonly Picture[]
  readonly sections?: readonly Section[]
  /** What is looked at before deciding. It is shown beside the decision, from another server. */
  readonly document?:
    | { readonly href: string; readonly reference: string; readonly host: string; readonly isMoved: boolean }
    | undefined
  /** In its place, where it cannot be looked at; with where that is mended. */
  readonly unseen?: { readonly reference: string; readonly why: string; readonly href?: string } | undefined
  /** What is read in full beside the document: it is asked for with a form, of which it takes the place. */
  readonly comparison?: Comparison | undefined
  /** What became of it, in the order of time. */
  readonly history?: readonly {
    readonly at: string
    readonly who: string
    readonly from: string | null
    readonly to: string | null
    readonly reason: string | null
  }[]
  /** Undefined where nobody decides anything. */
  readonly decisions?: readonly Decision[] | undefined
  /** What can be done at any time stands last on a narrow screen; what waits for a decision stands first. */
  readonly decisionsTitle?: 'actions'
  /** Why nothing can be decided now, or what is special about this page. */
  readonly remark?: string | undefined
  /** Who was first, where it takes two. */
  readonly people?: readonly string[]
  /** What was sent to this page and not done. */
  readonly sent?: SentForm | undefined
}

export interface Comparison {
  readonly decision: Decision
  /** Empty until the form was sent. */
  readonly lines: readonly {
    readonly field: string
    readonly text: string
    /** What may come out, each with its sentence in the reason of a decision. */
    readonly outcomes: readonly { readonly label: string; readonly says: string }[]
  }[]
  /** How long they stay on the page, in milliseconds. */
  readonly lastsMs: number
}

/** What this person can do, and in one line what takes another role. */
function ownAndOthers({ display }: Visit, shown: readonly ShownDecision[]) {
  const byRoles = Map.groupBy(
    shown.filter(({ isOthers }) => isOthers),
    ({ roles }) => roles,
  )
  const what = [...byRoles].map(
    ([roles, those]) => `${those.map(({ label }) => display.t(label)).join(', ')} (${roles})`,
  )
  return {
    decisions: shown.filter(({ isOthers }) => !isOthers),
    others: what.length === 0 ? undefined : display.t('forOthers', { what: what.join(' · ') }),
  }
}

export function showCase(visit: Visit, { path, sent, comparison, ...given }: Case): FastifyReply {
  if (given.document !== undefined) allowFrame(visit.reply, given.document.href)
  const decisions = given.decisions?.map((decision) => shownDecision(visit, decision, path, sent))
  const compare = comparison && shownDecision(visit, comparison.decision, path, sent)
  return visit.show('case', {
    document: undefined,
    unseen: undefined,
    pictures: [],
    sections: [],
    history: [],
    people: [],
    others: undefined,
    ...given,
    facts: [...given.facts, ...trailOf(visit, given.facts)],
    ...(decisions && ownAndOthers(visit, decisions)),
    comparison: comparison && { ...comparison, decision: compare },
    lost: refusalWithoutForm(visit, [...(decisions ?? []), ...(compare === undefined ? [] : [compare])], sent),
  })
}

/** Where the audit of a record with an id begins, for whoever may read it. */
function trailOf({ person, display, address }: Visit, facts: readonly Fact[]): readonly Fact[] {
  const shown = facts.find(({ field, cell }) => field === 'id' && cell.kind === 'id')?.cell
  if (shown?.kind !== 'id' || !person.mayCall(operations.gateway.listAudit)) return []
  return [{ field: 'audit', cell: link(display.t('auditOfThis'), address(`/audit?subject=${shown.text}`)) }]
}

/** This page, and no other, may show something of that server in a frame. */
function allowFrame(reply: FastifyReply, href: string): void {
  const name = 'Content-Security-Policy'
  reply.header(name, `${reply.getHeader(name)}; frame-src ${new URL(href).origin}`)
}

/** A refusal whose form is not shown any more, for example because somebody else was faster. */
export const refusalWithoutForm = ({ display }: Visit, shown: readonly ShownDecision[], sent: SentForm | undefined) =>
  sent === undefined || shown.some(({ name, unless }) => name === sent.name && unless === undefined)
    ? undefined
    : { code: sent.rejection.code, unknown: false, lines: detailLines(display, sent.rejection) }
