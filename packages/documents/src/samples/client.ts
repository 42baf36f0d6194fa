import { apiVersion, httpOperations } from '@backoffice/contracts'
import { keepTheKey, keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders, yourId } from './call.ts'
import { node, objectOf } from './node.ts'
import { entriesOf, inSingleQuotes, kebabCase, lines } from './text.ts'

const filename = (operationId: string) => `${kebabCase(operationId)}.mjs`

export const client: SampleLanguage = {
  id: 'client',
  name: 'TypeScript client',
  highlight: 'typescript',
  codeSample: 'TypeScript',
  filename,
  // The client has no method for what needs no key.
  unsigned: node.unsigned,
  signed,
}

/** Methods that have another name than the operation, or take single values; src/client.ts of the client has them. */
const methods: Readonly<Record<string, { readonly name?: string; readonly takes: 'values' | 'options' }>> = {
  getMe: { name: 'me', takes: 'options' },
  findPlayers: { name: 'findPlayer', takes: 'values' },
  openGameSession: { takes: 'values' },
  decideKycInSandbox: { name: 'decideKyc', takes: 'values' },
  decideWithdrawalInSandbox: { name: 'decideWithdrawal', takes: 'values' },
}

/** The others take the body, unless all of it may be left out: then its fields stand among the options. */
const needsBody = new Set(httpOperations.filter(({ body }) => (body.required ?? []).length > 0).map(({ id }) => id))
const takenBy = (operationId: string) => (needsBody.has(operationId) ? 'body' : 'options')

function signed({ operationId, summary, ids, query, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  const { name = operationId, takes = takenBy(operationId) } = methods[operationId] ?? {}
  const input = { ...query, ...body }
  const options = [
    ...(takes === 'options' ? entriesOf(input).map(([field, value]) => `${field}: ${literalOf(value)}`) : []),
    ...(needsIdempotencyKey ? ['idempotencyKey'] : []),
  ]
  const given = [
    ...Object.keys(ids),
    ...(takes === 'values' ? Object.values(input).map(inSingleQuotes) : []),
    ...(takes === 'body' && body !== undefined ? ['body'] : []),
    ...(options.length > 0 ? [`{ ${options.join(', ')} }`] : []),
  ]
  return lines(
    `// npm install ./backoffice-client-${apiVersion}.tgz (our team gives you this file)`,
    `// Node.js 20 or newer: node ${filename(operationId)}; in TypeScript it is the same`,
    needsIdempotencyKey && `import { randomUUID } from 'node:crypto'`,
    `import { BackOfficeClient } from '@backoffice/client'`,
    '',
    `const { OPERATOR_KEY = '${samplePlaceholders.key}', OPERATOR_SECRET = '${samplePlaceholders.secret}' } = process.env`,
    'const backOffice = new BackOfficeClient({',
    `  baseUrl: '${baseUrl}',`,
    '  key: OPERATOR_KEY,',
    '  secret: OPERATOR_SECRET,',
    '})',
    '',
    `// ${summary}`,
    entriesOf(ids).map(([field, value]) => `const ${field} = '${value}' // ${yourId}`),
    takes === 'body' && body !== undefined && `const body = ${objectOf(body)}`,
    needsIdempotencyKey && `const idempotencyKey = process.env.${keyVariable} ?? randomUUID() // ${keepTheKey}`,
    `const reply = await backOffice.${name}(${given.join(', ')})`,
    'console.log(JSON.stringify(reply, null, 2))',
    '',
  )
}

/** The numbers of a query are numbers here. */
const literalOf = (value: string) => (/^\d+$/.test(value) ? value : inSingleQuotes(value))
