import { detailsOf, errorAnchor, type PublicErrorCode, publicErrorCodes, publicErrors } from '@backoffice/contracts'
import type { FieldTables } from './field-tables.ts'

/** The error catalogue: a table to look a code up in, then each code with its cause and its cure. */
export function errorsSection(tables: FieldTables): string {
  const rows = publicErrorCodes.map((code) => {
    const { status, message, retryable } = publicErrors[code]
    return `| ${status} | [\`${code}\`](#${errorAnchor(code)}) | ${message} | ${retryable ? 'same key' : 'no'} |`
  })
  return [
    '## Error codes',
    'Every error reply has a header `Link` with `rel="help"`, which leads to its code below. Retry: whether the same request, with the same Idempotency-Key, may succeed later.',
    `| HTTP | Code | Meaning | Retry |\n|---|---|---|---|\n${rows.join('\n')}`,
    ...publicErrorCodes.map((code) => errorEntry(code, tables)),
  ].join('\n\n')
}

function errorEntry(code: PublicErrorCode, tables: FieldTables): string {
  const { status, cause, cure, retryable } = publicErrors[code]
  const details = detailsOf(code)
  // Who follows the link of a reply sees this entry, and not the table.
  const retry = retryable ? 'retry with the same key' : 'no retry'
  const parts = [
    `### ${code} {#${errorAnchor(code)}}`,
    `<p class="status">HTTP ${status} · ${retry}</p>`,
    `**Cause.** ${cause}`,
    `**Cure.** ${cure}`,
  ]
  if (details === undefined) return parts.join('\n\n')
  const { description } = details.schema
  if (description !== undefined) parts.push(`\`details\`: ${description}`)
  return [...parts, tables.details(details.schema)].join('\n\n')
}
