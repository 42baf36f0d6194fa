import {
  commonRejects,
  type ErrorCode,
  errorCatalogue,
  events,
  httpOperations,
  type Operation,
  publicEventKinds,
} from '@backoffice/contracts'
import type { TObject, TSchema } from '@sinclair/typebox'
import { SchemaComponents } from './json-schema.ts'
import { signingSnippets, snippetPurposes } from './snippets.ts'

/** The reference as Markdown, derived from the operation, event and error tables. Headings are `#` level 2 and 3. */
export function referenceMarkdown(): string {
  const groups = Map.groupBy(httpOperations, (operation) => operation.tag ?? 'Documents')
  return [
    ...Array.from(groups).map(([tag, operations]) => `## ${tag}\n\n${operations.map(operationSection).join('\n\n')}`),
    eventsSection(),
    errorsSection(),
    snippetsSection(),
  ].join('\n\n')
}

function operationSection(operation: Operation): string {
  const http = operation.http
  if (http === undefined) return ''
  const tryIt =
    operation.audience === 'public'
      ? ''
      : ` <button type="button" class="try" data-operation="${operation.id}">Try it</button>`
  return [
    `### ${operation.summary} {#${operation.id.toLowerCase()}}`,
    `<p class="route"><span class="method ${http.method.toLowerCase()}">${http.method}</span> <code>${http.path}</code>${tryIt}</p>`,
    operation.description ?? '',
    operation.idempotency === 'required' ? 'Requires `Idempotency-Key`.' : '',
    fieldsTable('Path', operation.params),
    fieldsTable('Query', operation.query),
    fieldsTable('Body', operation.body),
    exampleBlock('Request body', operation.example?.body),
    exampleBlock(`Reply ${http.status}`, operation.example?.reply),
    errorsOf(operation),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function fieldsTable(title: string, schema: TObject): string {
  const fields = Object.entries(schema.properties)
  if (fields.length === 0) return ''
  const rows = fields.map(([name, property]) => {
    const required = schema.required?.includes(name) ? 'required' : 'optional'
    return `| \`${name}\` | ${required} | ${constraints(property as TSchema)} |`
  })
  return `| ${title} | | |\n|---|---|---|\n${rows.join('\n')}`
}

/** The constraints of a field in words, so that nobody has to read a schema to fill a form. */
function constraints(schema: TSchema): string {
  const published = new SchemaComponents().publish(schema)
  const words: string[] = []
  if (typeof published.description === 'string') words.push(published.description.replace(/\.$/, ''))
  if (Array.isArray(published.enum)) words.push(`one of ${published.enum.map((value) => `\`${value}\``).join(', ')}`)
  if (published.minLength !== undefined) words.push(`${published.minLength} to ${published.maxLength} characters`)
  else if (published.maxLength !== undefined) words.push(`at most ${published.maxLength} characters`)
  if (published.minimum !== undefined) words.push(`${published.minimum} to ${published.maximum}`)
  if (published.default !== undefined) words.push(`default ${published.default}`)
  return words.length > 0 ? `${words.join('; ')}.` : 'string'
}

function exampleBlock(title: string, example: unknown): string {
  if (example === undefined) return ''
  return `<p class="label">${title}</p>\n\n\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``
}

function errorsOf(operation: Operation): string {
  const own = [...new Set(operation.rejects)]
  const shared = commonRejects(operation).filter((code) => !own.includes(code))
  const list = (codes: readonly ErrorCode[]) =>
    codes.map((code) => `<a href="#error-codes"><code>${errorCatalogue[code].status} ${code}</code></a>`).join(' ')
  const summary = `<details><summary>Errors every such route may answer</summary>\n\n${list(shared)}\n\n</details>`
  return own.length > 0
    ? `<p class="label">Refusals, in order of precedence</p>\n\n${list(own)}\n\n${summary}`
    : summary
}

function eventsSection(): string {
  const rows = publicEventKinds.map(
    (kind) => `### ${kind}\n\n${events[kind].description}\n\n${exampleBlock('data', events[kind].example)}`,
  )
  return `## Events\n\nThe body of a webhook is \`{id, type, apiVersion, environment, operatorId, brandId, createdAt, data}\`; \`data\` is the public record, \`previousStatus\`, and a \`version\` that rises per record.\n\n${rows.join('\n\n')}`
}

/** Every code that an HTTP operation may answer; the team's own codes are not public. */
export function publishedErrorCodes(): ErrorCode[] {
  const reachable = new Set<ErrorCode>([
    'NOT_FOUND',
    'METHOD_NOT_ALLOWED',
    'REQUEST_TIMEOUT',
    'HEADERS_TOO_LARGE',
    'PAYLOAD_TOO_LARGE',
  ])
  for (const operation of httpOperations) {
    for (const code of [...commonRejects(operation), ...operation.rejects]) reachable.add(code)
  }
  return (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => reachable.has(code))
}

function errorsSection(): string {
  const rows = publishedErrorCodes().map((code) => {
    const { status, message, retryable } = errorCatalogue[code]
    return `| ${status} | \`${code}\` | ${message} | ${retryable ? 'same key' : 'no'} |`
  })
  return `## Error codes\n\n| HTTP | Code | Meaning | Retry |\n|---|---|---|---|\n${rows.join('\n')}`
}

function snippetsSection(): string {
  const blocks = signingSnippets().snippets.map(
    ({ name, purpose, filename, code, language }) =>
      `<details><summary>${name}: ${snippetPurposes[purpose]} <code>${filename}</code></summary>\n\n\`\`\`${language}\n${code}\`\`\`\n\n</details>`,
  )
  return `## Signing snippets\n\nEach is executed against this API and the test vectors before a release.\n\n${blocks.join('\n\n')}`
}
