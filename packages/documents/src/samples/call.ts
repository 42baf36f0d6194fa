import assert from 'node:assert/strict'
import { httpOperations, type Operation } from '@backoffice/contracts'

/** What a sample sends: one operation with the example of its entry in the table. */
export interface SampleCall {
  readonly operationId: string
  /** What the operation does, for a comment. */
  readonly summary: string
  readonly baseUrl: string
  readonly method: 'GET' | 'POST'
  /** Below the base URL, with `{playerId}` and its like, and with the query. */
  readonly path: string
  /** Path parameters, with ids that the reader replaces. */
  readonly ids: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** Undefined for a GET. */
  readonly body: Readonly<Record<string, string>> | undefined
  readonly needsIdempotencyKey: boolean
  /** False for the public documents. */
  readonly isSigned: boolean
}

/** A language that has a sample of every operation. */
export interface SampleLanguage {
  readonly id: string
  readonly name: string
  /** What highlight.js calls it. */
  readonly highlight: string
  /** What `x-codeSamples` calls it. */
  readonly codeSample: string
  /** The name under which a reader saves the sample. */
  readonly filename: (operationId: string) => string
  /** The program for an operation that is signed. */
  readonly signed: (call: SampleCall) => string
  /** The program for a public document. */
  readonly unsigned: (call: SampleCall) => string
}

/**
 * Each stands in a sample once, and is used unless the environment has OPERATOR_KEY and OPERATOR_SECRET. In ASCII: a key
 * that nobody has filled in is then refused by the API, and not by a runtime that cannot send the header.
 */
export const samplePlaceholders = { key: 'bk_test_...', secret: 'sk_...' } as const

/** To be read in the place where a retry would go wrong. */
export const keepTheKey = 'keep it: a retry sends the same one'
/** Whoever runs a sample again, because no reply came, sets it to the key of the first run. */
export const keyVariable = 'IDEMPOTENCY_KEY'
/** Beside each id of the path: the program needs one that exists. */
export const yourId = 'from an earlier reply'

/**
 * The call of an operation with the example of its entry in the table.
 * @param baseUrl the address that clients call, with the /api/v1 prefix
 */
export function sampleCall(operationId: string, baseUrl: string): SampleCall {
  const operation = httpOperations.find(({ id }) => id === operationId)
  assert(operation?.http !== undefined, `no operation of the API is called ${operationId}`)
  const { method, path } = operation.http
  const query = operation.example?.query ?? {}
  const search = new URLSearchParams(query).toString()
  return {
    operationId,
    summary: operation.summary,
    baseUrl,
    method,
    path: search === '' ? path : `${path}?${search}`,
    ids: operation.example?.params ?? {},
    query,
    body: operation.hasBody ? bodyOf(operation) : undefined,
    needsIdempotencyKey: operation.idempotency === 'required',
    isSigned: operation.audience !== 'public',
  }
}

/** Every language has its own way to write an object, so the samples have those of text only. */
function bodyOf({ id, example }: Operation): Record<string, string> {
  const fields = Object.entries((example?.body ?? {}) as Record<string, unknown>)
  return Object.fromEntries(
    fields.map(([name, value]) => {
      assert(typeof value === 'string', `the samples of ${id} cannot write its example: ${name} is not text`)
      return [name, value]
    }),
  )
}
