/** The SQLSTATE behind an error of the driver, or of the ORM around it. */
export function sqlState(error: unknown): string | undefined {
  for (const { code } of causesOf(error)) if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code
  return undefined
}

const serializationFailure = '40001'
const deadlockDetected = '40P01'
const uniqueViolation = '23505'
const lockNotAvailable = '55P03'
const inFailedTransaction = '25P02'
const queryCanceled = '57014'
const unknownStatement = '26000'
const featureNotSupported = '0A000'
const readOnlyTransaction = '25006'

/** The transaction did nothing and may simply run again. */
export const isRetryable = (error: unknown): boolean => {
  const state = sqlState(error)
  return state === serializationFailure || state === deadlockDetected || isStaleConnection(error)
}

/**
 * It fails on this connection for ever, and works on a new one. What the connection has prepared is not what PostgreSQL has:
 * a migration changed a column's type meanwhile, or the statement is gone. Or its server is no primary any more.
 */
export function isStaleConnection(error: unknown): boolean {
  const state = sqlState(error)
  if (state === unknownStatement || isOfReplica(error)) return true
  return state === featureNotSupported && causesOf(error).some(isAboutPlan)
}

/** A server that writes no more refused to. */
export const isOfReplica = (error: unknown): boolean => sqlState(error) === readOnlyTransaction

const isAboutPlan = ({ message }: { readonly message: string }) => message.includes('cached plan')

/** Another transaction has just written a row with the same key. It can be read from now on. */
export const isUniqueViolation = (error: unknown): boolean => sqlState(error) === uniqueViolation

/** Another transaction has locked a row that the statement needs, and does not end. */
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === lockNotAvailable

/**
 * PostgreSQL ended the statement because it took too long, and not because somebody asked for it. A batch may be too much
 * for one statement, or one item of it may be the slow one.
 */
const isStatementTimeout = (error: unknown): boolean =>
  sqlState(error) === queryCanceled && causesOf(error).some(({ message }) => message.includes('statement timeout'))

/** The statement failed only because one before it in its transaction had failed. */
export const isInFailedTransaction = (error: unknown): boolean => sqlState(error) === inFailedTransaction

/** Bad data (class 22), a broken constraint (23), or a failed assertion: the fault of one item, not of the connection. */
function isFaultOfData(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '') || causesOf(error).some(({ code }) => code === 'ERR_ASSERTION')
}

/**
 * SQLSTATEs: connection exceptions (08), a server that is no primary any more (25006) or ended a session that said nothing
 * (25P03, 25P04), passwords and rights to connect that are being changed (28), shutting down or starting (57P0x), out of
 * resources (53), a disk that fails (58), a statement that took too long (57014), and transactions that were in each other's
 * way (55P03, 40001, 40P01).
 */
const passingStates = /^(08...|25006|25P03|25P04|28...|57P0.|57014|53...|58...|55P03|40001|40P01)$/
const passingErrnos: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** The drivers give these no code. */
const passingMessages = /\bconnect(ions?)?\b|timeout exceeded|timeout expired|terminated|not queryable/i

/** PostgreSQL or NATS is away, starting, shutting down or busy: waiting helps. */
export function isPassingFault(error: unknown): boolean {
  return causesOf(error).some(
    ({ code, message }) =>
      (typeof code === 'string' && (passingStates.test(code) || passingErrnos.has(code))) ||
      passingMessages.test(message),
  )
}

/**
 * What to do after a batch of items has failed.
 *
 * - `again`: run the same batch once more. What was in its way can be read by now.
 * - `alone`: run each item alone, because one of them may be at fault.
 * - `locked`: run each item alone, because another transaction holds what one of them needs.
 * - `everyone`: fail all items, because none of them is at fault.
 */
export type BatchFault = 'again' | 'alone' | 'locked' | 'everyone'

/** What to do after a transaction of many items has failed. */
export function batchFaultOf(error: unknown): BatchFault {
  // Another transaction has just written a row with the same key. Loading again finds it.
  if (isUniqueViolation(error)) return 'again'
  if (isLockTimeout(error)) return 'locked'
  if (isOfReplica(error)) return 'everyone'
  // A single item is less likely to meet a deadlock than a batch.
  if (isRetryable(error) || isFaultOfData(error)) return 'alone'
  if (isStatementTimeout(error)) return 'alone'
  // With any other fault one item may be the cause, and its neighbours should not suffer for it.
  return isPassingFault(error) ? 'everyone' : 'alone'
}

function causesOf(error: unknown): readonly { readonly code: unknown; readonly message: string }[] {
  const causes = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    causes.push({ code: (cause as { code?: unknown }).code, message: cause.message })
  }
  return causes
}
