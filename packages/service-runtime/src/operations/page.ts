import { pageBytesMax } from '@backoffice/contracts'

const bytesOf = (row: unknown): number => Buffer.byteLength(JSON.stringify(row))

/**
 * The rows at the front of a list that fit into one page, at most `limit`. The first one is always among them, so that
 * whoever goes on comes to an end.
 */
export function fitting<Row>(rows: readonly Row[], limit = rows.length): Row[] {
  let bytes = 0
  const end = rows.findIndex((row, index) => {
    bytes += bytesOf(row)
    return index >= limit || (bytes > pageBytesMax && index > 0)
  })
  return end < 0 ? [...rows] : rows.slice(0, end)
}

/**
 * A page of a list, with where the next one begins.
 * @param rows one more than `limit`, if there are as many
 * @param placeOf how a row is named as the place to go on from
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
): { data: Row[]; nextCursor: string | null } {
  const data = fitting(rows, limit)
  const last = data.at(-1)
  return { data, nextCursor: last === undefined || data.length === rows.length ? null : placeOf(last) }
}

/** A record as replies show it. */
export type WithIsoTimes<R> = {
  [Field in keyof R]: R[Field] extends Date ? string : R[Field] extends Date | null ? string | null : R[Field]
}

/** Writes the times of a record in ISO 8601, as replies have them; all else stays as it is. */
export function withIsoTimes<R extends object>(record: R): WithIsoTimes<R> {
  const fields = Object.entries(record).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ])
  return Object.fromEntries(fields)
}

/** What is shown, as it is stored: the named fields are times. */
export type WithTimes<Shown, Times extends keyof Shown> = Readonly<
  Omit<Shown, Times> & { [Field in Times]: Date | Extract<Shown[Field], null> }
>
