import { Rejection } from '@backoffice/contracts'
import { parseRange } from './addresses.ts'

/** @throws {Rejection} VALIDATION_ERROR naming each entry that is neither an address nor a CIDR range */
export function requireRanges(entries: readonly string[]): void {
  const issues = entries.flatMap((entry, index) =>
    parseRange(entry) === null
      ? [{ path: `/allowedAddresses/${index}`, message: 'must be an address or a CIDR range' }]
      : [],
  )
  if (issues.length > 0) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
}
