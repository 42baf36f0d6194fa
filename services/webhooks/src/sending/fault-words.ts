import dns from 'node:dns'
import { getSystemErrorMap } from 'node:util'

/** The host resolves to an address that nothing may be sent to. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError'
  constructor(addresses: readonly string[]) {
    super(
      `The host leads to an address that is not public (${addresses.slice(0, 3).join(', ') || 'none'}); nothing was sent.`,
    )
  }
}

/** The URL itself may not be sent to. */
export class RefusedUrlError extends Error {
  override readonly name = 'RefusedUrlError'
}

/** The time for the whole attempt is over. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  constructor(deadlineMs: number) {
    super(`No answer within ${deadlineMs / 1000} s.`)
  }
}

/** The receiver had closed, or closed just then, the connection of an earlier delivery, which says nothing of this one. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
  constructor() {
    super(
      'The receiver closed the connection of an earlier delivery before it answered; the next attempt is due at once.',
    )
  }
}

/** What the codes of Node, OpenSSL and the resolver mean to a person who runs a receiver. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused: nothing listens on that port.',
  ECONNRESET: 'The receiver closed the connection before it answered.',
  EPIPE: 'The receiver closed the connection while the request was sent.',
  ETIMEDOUT: 'The connection could not be made in time.',
  EHOSTUNREACH: 'There is no route to the receiver.',
  ENETUNREACH: 'There is no route to the receiver.',
  EADDRNOTAVAIL: 'There is no route to the receiver.',
  ENOTFOUND: 'The host name does not exist.',
  ENODATA: 'The host name has no address.',
  ESERVFAIL: 'The name servers of the host failed.',
  ETIMEOUT: 'The name servers of the host did not answer.',
  EREFUSED: 'The name servers of the host refused to answer.',
  EAI_AGAIN: 'The name servers of the host did not answer.',
  CERT_HAS_EXPIRED: "The receiver's certificate has expired.",
  CERT_NOT_YET_VALID: "The receiver's certificate is not valid yet.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The receiver's certificate is self-signed.",
  SELF_SIGNED_CERT_IN_CHAIN: "The receiver's certificate leads to an authority that nobody knows.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The receiver's certificate chain is not complete.",
  UNABLE_TO_GET_ISSUER_CERT: "The receiver's certificate chain is not complete.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "The receiver's certificate chain is not complete.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The receiver's certificate is for another host name.",
  EPROTO: 'The TLS handshake failed.',
  HPE_HEADER_OVERFLOW: 'The response headers are too large.',
  HPE_INVALID_CONSTANT: 'The answer is not HTTP.',
}

const resolverCodes: ReadonlySet<unknown> = new Set(Object.values(dns))
const systemMessages: ReadonlyMap<string, string> = new Map(getSystemErrorMap().values())

/** For codes without words of their own: what was under way, and the code, by which whoever runs the receiver finds more. */
function stepOf(code: string): string {
  if (code.startsWith('HPE_')) return 'The answer breaks a rule of HTTP'
  if (/^ERR_(SSL|TLS|OSSL)/.test(code)) return 'The TLS handshake failed'
  if (/CERT|CRL|ISSUER|HOSTNAME|CHAIN|_CA$|PATH_LENGTH|PURPOSE/.test(code))
    return "The receiver's certificate was refused"
  if (resolverCodes.has(code) || code.startsWith('EAI_')) return 'The host name could not be resolved'
  const message = systemMessages.get(code)
  return message === undefined ? 'The attempt failed' : `The connection failed: ${message}`
}

export function faultInWords(error: unknown): string {
  if (isWorded(error)) return error.message
  const code = codeOf(error)
  return code === undefined ? 'The attempt failed.' : (words[code] ?? `${stepOf(code)} (${code}).`)
}

const worded = [RefusedAddressError, RefusedUrlError, DeadlineError, ConnectionLost]

function isWorded(error: unknown): error is Error {
  return worded.some((kind) => error instanceof kind)
}

/** The most specific code: of the error, of its cause, or of the first of several errors. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, cause } = error as Error & { code?: unknown }
  const inner = codeOf(error instanceof AggregateError ? error.errors[0] : cause)
  if (inner !== undefined) return inner
  return typeof code === 'string' ? code : undefined
}
