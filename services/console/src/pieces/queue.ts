import type { FastifyReply } from 'fastify'
import type { Word } from '../words/index.ts'
import type { Row } from './cells.ts'
import { type Filter, withQuery } from './filters.ts'
import type { ShownDecision, Visit } from './visit.ts'

/** How many rows a page of a list has. */
export const rowsOnPage = 50

/** Where a page of a list begins; nothing for the first one. */
export const afterOf = (cursor: string | undefined): { readonly after?: string } =>
  cursor === undefined ? {} : { after: cursor }
export const beforeOf = (cursor: string | undefined): { readonly before?: string } =>
  cursor === undefined ? {} : { before: cursor }

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
}

export interface Section {
  readonly title?: Word
  readonly tabs?: readonly Tab[]
  readonly remark?: string | undefined
  readonly rows: readonly Row[]
}

interface List {
  readonly title: Word
  /** The record whose list it is. */
  readonly about?: { readonly name: string; readonly href: string }
  readonly tabs?: readonly Tab[]
  /** The form that makes one more. */
  readonly create?: { readonly href: string; readonly label: Word } | undefined
  /** What can be done besides looking. */
  readonly decisions?: readonly ShownDecision[]
  readonly filter?: Filter
  /** Of the same rows as a file. */
  readonly csv?: string | undefined
  readonly remark?: string | undefined
  /** The services that did not answer. */
  readonly missing?: readonly string[] | undefined
  readonly sections: readonly Section[]
  /** What is said where there are no rows. */
  readonly empty?: Word
  /** Of its first page, without the filter. */
  readonly path: string
  readonly nextCursor?: string | null | undefined
}

/** A page of lists under one head. */
export function showLists(visit: Visit, { path, nextCursor, csv, missing = [], ...list }: List): FastifyReply {
  const filtered = withQuery(path, list.filter?.query ?? '')
  return visit.show('list', {
    tabs: [],
    empty: 'none',
    decisions: [],
    ...list,
    missing: missing.join(', '),
    csv: csv && visit.address(withQuery(csv, list.filter?.query ?? '')),
    more: nextCursor && visit.address(withQuery(filtered, new URLSearchParams({ after: nextCursor }).toString())),
    first: visit.query.after === undefined ? undefined : visit.address(filtered),
  })
}

export const showList = (visit: Visit, { rows, ...list }: Omit<List, 'sections'> & Section): FastifyReply =>
  showLists(visit, { ...list, sections: [{ rows }] })
