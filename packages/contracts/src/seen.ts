import { isDeepStrictEqual } from 'node:util'
import type { TObject } from '@sinclair/typebox'
import { Rejection } from './errors.ts'
import type { Input, Operation } from './operation.ts'

/** What a call of an operation names of what was shown. */
export type SeenPart<O> = Input<O> extends { readonly seen: infer S } ? S : never

/** Of what a page shows of a record, or a service has, the part that a decision about it names. */
export function seenOf<O extends Operation>({ body }: O, record: NonNullable<SeenPart<O>>): SeenPart<O> {
  const { seen } = body.properties as { readonly seen: TObject }
  const values = record as Readonly<Record<string, unknown>>
  const names = Object.keys(seen.properties).filter((name) => values[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, values[name]])) as SeenPart<O>
}

/**
 * People decide about what they have read, and their signature says what that was: a service that told them something else
 * is found out here.
 * @param subject the id of what it is about
 * @param held the same fields, of the locked record
 * @throws {Rejection} NOT_AS_SEEN, with both
 */
export function refuseUnlessSeen<Shown extends object | null>(subject: object, seen: Shown, held: Shown): void {
  if (!isDeepStrictEqual(plain(seen), plain(held))) throw new Rejection('NOT_AS_SEEN', { ...subject, seen, held })
}

/** Rows of a database have no prototype. */
const plain = (value: object | null) => value && { ...value }
