import type { FastifyReply } from 'fastify'
import type { Word } from '../words/index.ts'
import type { Row } from './cells.ts'
import type { Visit } from './visit.ts'

/** How many rows a page of a list has. */
export const rowsOnPage = 50

/** Where a page of a list begins; nothing for the first one. */
export const afterOf = (cursor: string | undefined): { readonly after?: string } =>
  cursor === undefined ? {} : { after: cursor }
export const beforeOf = (cursor: string | undefined): { readonly before?: string } =>
  cursor === undefined ? {} : { before: cursor }

export interface Tab {
  readonly label: Word
  readonly href: string
  readonly current: boolean
  /** The count that stands beside it. */
  readonly count?: Word
}

interface List {
  readonly title: Word
  readonly tabs?: readonly Tab[]
  /** The form that makes one more. */
  readonly create?: { readonly href: string; readonly label: Word } | undefined
  readonly rows: readonly Row[]
  /** What is said where there are none. */
  readonly empty?: Word
  /** Of its first page. */
  readonly path: string
  readonly nextCursor?: string | null | undefined
}

/** A page of a list. */
export const showList = (visit: Visit, { path, nextCursor, ...list }: List): FastifyReply =>
  visit.show('queue', {
    tabs: [],
    empty: 'none',
    ...list,
    more: nextCursor && visit.address(withParameter(path, 'after', nextCursor)),
    first: visit.query.after === undefined ? undefined : visit.address(path),
  })

/** An address with one more parameter. */
export const withParameter = (path: string, name: string, value: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
