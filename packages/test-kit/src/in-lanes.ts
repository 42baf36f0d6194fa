const lanes = 4

/**
 * `Promise.all(items.map(work))`, a few at a time. The last of many calls at once waits for all others, and on a slow
 * machine its limit passes meanwhile.
 */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const lane = async () => {
    for (const [index, item] of waiting) results[index] = await work(item, index)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}

interface Page<Row> {
  readonly data: readonly Row[]
  /** Where the next page begins; null after the last one. */
  readonly nextCursor?: string | null
}

/** The rows of all pages of a list. @param read a page, the first one without a cursor */
export async function allPages<Row>(read: (cursor?: string) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, nextCursor = null } = await read(cursor)
    rows.push(...data)
    cursor = nextCursor
  }
  return rows
}
