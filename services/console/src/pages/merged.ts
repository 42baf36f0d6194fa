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
