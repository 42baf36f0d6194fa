import type { Input, Operation, Reply } from '@backoffice/contracts'
import type { Session } from './session.ts'

/** The fields that say where a page begins. */
const places = ['before', 'after', 'cursor'] as const

interface Page {
  readonly data: readonly unknown[]
  readonly nextCursor?: string | null
}

const isPage = (reply: unknown): reply is Page => Array.isArray((reply as Partial<Page>).data)

/**
 * Calls a query. A page ends early when its rows are long, so it goes on until there are as many rows as were asked for.
 */
export async function callPages<O extends Operation>(
  session: Session,
  operation: O,
  input: Input<O>,
): Promise<Reply<O>> {
  const place = places.find((name) => name in operation.body.properties)
  const { limit = Number.POSITIVE_INFINITY } = input as { readonly limit?: number }
  const first = await session.call(operation, input)
  if (place === undefined || !isPage(first)) return first
  const data = [...first.data]
  let { nextCursor = null } = first
  while (nextCursor !== null && data.length < limit) {
    const left = limit === Number.POSITIVE_INFINITY ? {} : { limit: limit - data.length }
    const page = (await session.call(operation, { ...input, ...left, [place]: nextCursor })) as Page
    data.push(...page.data)
    nextCursor = page.nextCursor ?? null
  }
  return { ...(first as object), data, nextCursor } as Reply<O>
}
