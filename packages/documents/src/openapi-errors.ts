import { commonRejects, type ErrorCode, errorCatalogue, type Operation, sample } from '@backoffice/contracts'
import type { JsonSchema } from './json-schema.ts'

/** Every response carries it. */
export const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

/** The one envelope of all errors. */
export function errorSchema(): JsonSchema {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'requestId'],
        properties: {
          code: { type: 'string', maxLength: 64, description: 'Stable.' },
          message: { type: 'string', maxLength: 1000, description: 'For people; may change.' },
          requestId: { type: 'string', maxLength: 64, description: 'The same as X-Request-Id.' },
          details: {
            type: 'object',
            description: 'Depends on the code. VALIDATION_ERROR: `in` and `issues` [{path, message}].',
            additionalProperties: true,
          },
        },
        additionalProperties: true,
      },
    },
    additionalProperties: true,
  }
}

/** One response per status, naming each code that it may carry, with an example for each. */
export function errorResponses(operation: Operation): Record<string, JsonSchema> {
  const codes = [...new Set([...commonRejects(operation), ...operation.rejects])]
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { status } = errorCatalogue[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const sorted = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(sorted.map(([status, entries]) => [String(status), errorResponse(status, entries)]))
}

const statusesWithRetryAfter: ReadonlySet<number> = new Set([409, 429, 503])

function errorResponse(status: number, codes: readonly ErrorCode[]): JsonSchema {
  const retryAfter = statusesWithRetryAfter.has(status)
    ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
    : {}
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].message}`).join('\n\n'),
    headers: { ...requestIdHeader, ...retryAfter },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { summary: code, value: errorExample(code) }])),
      },
    },
  }
}

function errorExample(code: ErrorCode): JsonSchema {
  const details = exampleDetails[code]
  return {
    error: {
      code,
      message: errorCatalogue[code].message,
      requestId: 'req_01kaj6p3e8fqkv3m0v2n8w4d6s',
      ...(details === undefined ? {} : { details }),
    },
  }
}

const exampleDetails: Partial<Record<ErrorCode, JsonSchema>> = {
  VALIDATION_ERROR: { in: 'body', issues: [{ path: '/amount', message: 'must be a decimal string over zero' }] },
  PLAYER_ALREADY_EXISTS: { playerId: sample.playerId },
  DEPOSIT_ALREADY_EXISTS: { depositId: sample.depositId },
  DEPOSIT_NOT_PENDING: { depositId: sample.depositId, status: 'confirmed' },
  WITHDRAWAL_NOT_CANCELLABLE: { status: 'approved' },
}
