import {
  apiVersion,
  type DetailsEntry,
  detailsOf,
  type ErrorCode,
  type EventKind,
  httpOperations,
  type Operation,
  providerApiVersion,
  providerErrorCodes,
  providerErrors,
  providerOperations,
  publicErrorCodes,
  publicErrors,
  publicEventKinds,
  type Tag,
  tags,
} from '@backoffice/contracts'
import { type TObject, Type } from '@sinclair/typebox'
import { type ServedSurface, servedOperators, servedProviders } from './served.ts'

/** What the documents say of a code. */
interface DocumentedError {
  readonly status: number
  readonly message: string
  readonly cause: string
  readonly cure: string
  /** Whether the same request may succeed later: in a word for the table, and for who comes from the reply's link. */
  readonly retry: string
  readonly retryAdvice: string
  readonly details: DetailsEntry | undefined
}

/** One of the two APIs, with all in which the documents of the other differ. */
export interface Surface extends ServedSurface {
  readonly title: string
  readonly summary: string
  readonly introduction: string
  readonly version: string
  readonly operations: readonly Operation[]
  readonly events: readonly EventKind[]
  readonly tags: readonly Tag[]
  readonly errors: ReadonlyMap<ErrorCode, DocumentedError>
  /** Above the table of the codes. */
  readonly errorsIntroduction: string
  /** The name of the security scheme, the header, and what goes into it. */
  readonly signatureHeaders: readonly (readonly [scheme: string, header: string, description: string])[]
  /** The OpenAPI document's server, below the address that clients call. */
  readonly server: { readonly path: string; readonly [field: string]: unknown }
}

const signatureHeaders = (caller: 'operator' | 'provider', keys: string): Surface['signatureHeaders'] => [
  [`${caller}Key`, caller === 'operator' ? 'X-Operator-Key' : 'X-Provider-Key', `The key of the credential: ${keys}.`],
  ['timestamp', 'X-Timestamp', 'Epoch seconds, within 5 minutes of the server clock.'],
  [
    'signature',
    'X-Signature',
    `Lowercase hex HMAC-SHA256, keyed with the ${caller} secret, over method, path with query, timestamp and the SHA-256 of the body, joined by LF.`,
  ],
]

const introductionStart =
  'Every authenticated request carries the three signing headers. Money is a decimal string with exactly 2 decimals, times are ISO 8601 in UTC, identifiers are opaque. Responses may gain fields at any time: ignore the ones you do not know.\n\nErrors share one envelope: `{ error: { code, message, requestId, details } }`. `code` is stable, `message` is not. Branch on `code`.'

export const operators: Surface = {
  ...servedOperators,
  title: 'Operator Gaming Back-Office API',
  summary: 'Server-to-server back office for gaming and betting operators.',
  introduction: introductionStart,
  version: apiVersion,
  operations: httpOperations,
  events: publicEventKinds,
  tags: Object.keys(tags).filter((tag): tag is Tag => tag !== 'Play'),
  errors: new Map(
    publicErrorCodes.map((code) => {
      const { retryable, ...entry } = publicErrors[code]
      const retry = retryable ? 'same key' : 'no'
      const retryAdvice = retryable ? 'retry with the same key' : 'no retry'
      return [code, { ...entry, retry, retryAdvice, details: detailsOf(code) }]
    }),
  ),
  errorsIntroduction:
    'Every error reply has a header `Link` with `rel="help"`, which leads to its code below. Retry: whether the same request, with the same Idempotency-Key, may succeed later.',
  signatureHeaders: signatureHeaders('operator', 'bk_test_… for the sandbox, bk_live_… for production'),
  server: { path: '', description: 'Sandbox and production: the key chooses the environment.', 'x-internal': false },
}

const retryMeanings = {
  never: 'the same request gets the same answer for ever',
  later: 'send the same request again, freshly signed',
} as const

/** Each error of a provider says in its details whether to ask again. What only our sandbox page explains is left out. */
function providerDetails(code: ErrorCode, retry: keyof typeof retryMeanings): DetailsEntry {
  const { schema, always = false, example } = detailsOf(code) ?? {}
  const { compareAt: _page, ...fields } = (schema as TObject | undefined)?.properties ?? {}
  const optional = always ? fields : Object.fromEntries(Object.entries(fields).map(([n, f]) => [n, Type.Optional(f)]))
  const said = Type.Literal(retry, { description: `\`${retry}\`: ${retryMeanings[retry]}.` })
  const { compareAt: _shown, ...shown } = (example ?? {}) as Record<string, unknown>
  return {
    schema: Type.Object({ retry: said, ...optional }, { additionalProperties: false }),
    always: true,
    example: code in signingFaults ? { retry } : { retry, ...shown },
  }
}

/** Their examples show a request of an operator. */
const signingFaults: Partial<Record<ErrorCode, true>> = { INVALID_SIGNATURE: true, TIMESTAMP_OUT_OF_RANGE: true }

export const providers: Surface = {
  ...servedProviders,
  title: "Game Providers' Wallet API",
  summary: 'Server-to-server wallet for the providers of games.',
  introduction: `${introductionStart} \`details.retry\` says whether to ask again: \`never\` is final, \`later\` is not.`,
  version: providerApiVersion,
  operations: providerOperations,
  events: [],
  tags: ['Play'],
  errors: new Map(
    providerErrorCodes.map((code) => {
      const { retry, ...entry } = providerErrors[code]
      const retryAdvice = retryMeanings[retry]
      return [code, { ...entry, retry, retryAdvice, details: providerDetails(code, retry) }]
    }),
  ),
  errorsIntroduction:
    'Every error reply has a header `Link` with `rel="help"`, which leads to its code below. Retry is `details.retry` of the reply. `never`: the same request gets the same answer. `later`: nothing was stored, or the outcome is unknown; send the same bytes again, freshly signed.',
  signatureHeaders: signatureHeaders('provider', 'gp_test_… for the sandbox, gp_live_… for production'),
  server: {
    path: '/{brandId}',
    description: 'Sandbox and production: the brand is of one of them, and so is the key.',
    'x-internal': false,
    variables: {
      brandId: { default: 'brd_…', description: 'The brand of the operator, as the launch of the game names it.' },
    },
  },
}

export function errorOf({ name, errors }: Surface, code: ErrorCode): DocumentedError {
  const entry = errors.get(code)
  if (entry === undefined) throw new Error(`${code} is no error of the ${name}' surface`)
  return entry
}
