import { type Operation, operations } from '@backoffice/contracts'
import type { Secret } from './visit.ts'

const { createOperator, issueCredential } = operations.gateway
const { rotateWebhookSecret } = operations.webhooks
const { setDocumentUrl } = operations.players

/** Where replies have what is shown once, in the order of reading: the field of the catalogue, and the way to its value. */
const places: ReadonlyMap<Operation, Readonly<Record<string, readonly string[]>>> = new Map<
  Operation,
  Readonly<Record<string, readonly string[]>>
>([
  [
    createOperator,
    {
      sandboxKey: ['sandbox', 'key'],
      sandboxSecret: ['sandbox', 'secret'],
      sandboxWebhookSecret: ['sandbox', 'webhookSecret'],
      productionKey: ['production', 'key'],
      productionSecret: ['production', 'secret'],
      productionWebhookSecret: ['production', 'webhookSecret'],
    },
  ],
  [issueCredential, { key: ['key'], secret: ['secret'] }],
  [rotateWebhookSecret, { webhookSecret: ['webhookSecret'] }],
  [setDocumentUrl, { documentKey: ['secret'] }],
])

/** Reads the secrets of an operation's reply; undefined for an operation that answers none. */
export function secretsIn(operation: Operation): ((reply: unknown) => readonly Secret[]) | undefined {
  const fields = places.get(operation)
  if (fields === undefined) return undefined
  return (reply) => {
    // Outside development an operator is created without production's pair.
    const there = Object.entries(fields).filter(([, path]) => path.length === 1 || partAt(reply, path[0]) !== null)
    const found = there.map(([field, path]) => ({ field, value: textAt(reply, path) }))
    // It makes a key only when asked for one.
    if (operation === setDocumentUrl && found.every(({ value }) => value === null)) return []
    // Keys are no secrets. Where the secrets are gone, nothing is left to be copied.
    const areGone = found.every(({ field, value }) => value === null || isPublic(field))
    return areGone ? found.map(({ field }) => ({ field, value: null })) : found
  }
}

const isPublic = (field: string) => ['key', 'sandboxKey', 'productionKey'].includes(field)

const partAt = (part: unknown, name = ''): unknown => (part as Readonly<Record<string, unknown>> | null)?.[name]

function textAt(reply: unknown, path: readonly string[]): string | null {
  const value = path.reduce(partAt, reply)
  return typeof value === 'string' ? value : null
}
