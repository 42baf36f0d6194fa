import type { Environment } from '@backoffice/contracts'

interface Page<Row> {
  readonly data: readonly Row[]
  readonly nextCursor?: string | null
}

/** A page of a queue, of one environment only. */
export interface QueuePage<Row> {
  readonly rows: readonly Row[]
  readonly nextCursor: string | undefined
}

export const rowsOnPage = 50
/** The queues hold both environments. So many of their pages are looked through for one of ours. */
const pagesMax = 10

/** Reads on until a page is full. The services do not filter by environment. */
export async function readQueue<Row extends { readonly environment: Environment }>(
  environment: Environment,
  first: string | undefined,
  read: (after: string | undefined) => Promise<Page<Row>>,
): Promise<QueuePage<Row>> {
  const rows: Row[] = []
  let cursor = first
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const { data, nextCursor } = await read(cursor)
    rows.push(...data.filter((row) => row.environment === environment))
    cursor = nextCursor ?? undefined
    if (cursor === undefined || rows.length >= rowsOnPage) break
  }
  return { rows, nextCursor: cursor }
}
