import { detailsOf, errorAnchor, errorCatalogue, type PublicErrorCode } from '@backoffice/contracts'
import type { HttpReply } from '@backoffice/test-kit'
import { Value } from '@sinclair/typebox/value'
import type { Test } from 'tap'

/** Holds a refusal to the catalogue and the envelope. */
export function isRefusal(t: Test, answer: HttpReply, code: PublicErrorCode, details?: unknown): void {
  const { error } = answer.body ?? {}
  t.equal(`${answer.status} ${error?.code}`, `${errorCatalogue[code].status} ${code}`)
  t.equal(error?.requestId, answer.headers['x-request-id'], `${code}: requestId is X-Request-Id`)
  t.match(answer.headers['content-type'], 'application/json')
  t.equal(answer.headers.link, `</api/v1/docs#${errorAnchor(code)}>; rel="help"`)
  if (details !== undefined) t.match(error.details, details)
  const entry = detailsOf(code)
  if (error?.details === undefined) t.not(entry?.always, true, `${code} has details`)
  else t.strictSame(entry && [...Value.Errors(entry.schema, error.details)], [], `${code}: details as in the catalogue`)
}
