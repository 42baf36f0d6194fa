import {
  commonRejects,
  detailsOf,
  type ErrorCode,
  errorAnchor,
  errorCatalogue,
  eventEnvelope,
  events,
  httpOperations,
  type Operation,
  type PublicErrorCode,
  publicErrorCodes,
  publicErrors,
  publicEventKinds,
  tags,
} from '@backoffice/contracts'
import type { TObject } from '@sinclair/typebox'
import { FieldTables, type SharedRecord, sharedRecords } from './field-tables.ts'
import { sampleMark } from './sample-panels.ts'
import { exampleDelivery } from './test-vectors.ts'

/** The reference as Markdown, derived from the operation, event and error tables. Headings are `#` level 2 and 3. */
export function referenceMarkdown(): string {
  const tables = new FieldTables()
  const groups = Map.groupBy(httpOperations, (operation) => operation.tag ?? 'Documents')
  const sections = Array.from(groups, ([tag, operations]) => [
    `## ${tag}\n\n${tags[tag]}`,
    ...sharedRecords.filter((record) => record.tag === tag).map((record) => recordSection(record, tables)),
    ...operations.map((operation) => operationSection(operation, tables)),
  ])
  return [...sections.flat(), eventsSection(tables), errorsSection(tables)].join('\n\n')
}

function recordSection(record: SharedRecord, tables: FieldTables): string {
  const { title, id, schema } = record
  const example = httpOperations.find(({ reply }) => reply === schema)?.example?.reply
  return paragraphs([
    `### ${title} {#${id}}`,
    schema.description ?? '',
    tables.record(record),
    exampleBlock(title, example),
  ])
}

const paragraphs = (parts: readonly string[]) => parts.filter((part) => part !== '').join('\n\n')
const label = (text: string) => `<p class="label">${text}</p>`

function operationSection(operation: Operation, tables: FieldTables): string {
  const { http, id, audience, params, query, body, hasBody, reply, example } = operation
  if (http === undefined) return ''
  const isPublic = audience === 'public'
  const tryIt = isPublic ? '' : ` <button type="button" class="try" data-operation="${id}">Try it</button>`
  // What needs no signature is a click away.
  const path = isPublic
    ? `<a href="{{baseUrl}}${http.path}"><code>${http.path}</code></a>`
    : `<code>${http.path}</code>`
  const hasFields = Object.keys(body.properties).length > 0
  const replyTable = tables.reply(reply)
  return paragraphs([
    `### ${operation.summary} {#${id.toLowerCase()}}`,
    isPublic ? '' : sampleMark(id),
    `<p class="route"><span class="method ${http.method.toLowerCase()}">${http.method}</span> ${path}${tryIt}</p>`,
    operation.description ?? '',
    operation.idempotency === 'required' ? 'Requires [`Idempotency-Key`](#idempotency).' : '',
    tables.request('Path', params),
    tables.request('Query', query),
    tables.request('Body', body),
    hasBody && !hasFields ? 'The body may be `{}` or absent.' : '',
    replyTable === '' ? '' : `${label(`Reply ${http.status}`)}\n\n${replyTable}`,
    exampleBlock('Request body', hasFields ? example?.body : undefined),
    exampleBlock(`Reply ${http.status}`, example?.reply),
    errorsOf(operation),
  ])
}

function exampleBlock(title: string, example: unknown): string {
  if (example === undefined) return ''
  return `${label(title)}\n\n\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``
}

function errorsOf(operation: Operation): string {
  const own = [...new Set(operation.rejects)]
  const shared = commonRejects(operation).filter((code) => !own.includes(code))
  const list = (codes: readonly ErrorCode[]) =>
    codes
      .map((code) => {
        const { status } = errorCatalogue[code]
        return `<a href="#${errorAnchor(code as PublicErrorCode)}"><code>${status} ${code}</code></a>`
      })
      .join(' ')
  const summary = `<details><summary>Errors every such route may answer</summary>\n\n${list(shared)}\n\n</details>`
  return own.length > 0 ? `${label('Refusals, in order of precedence')}\n\n${list(own)}\n\n${summary}` : summary
}

function eventsSection(tables: FieldTables): string {
  const { data: _, ...envelope } = eventEnvelope('webhook.test').properties
  // Each kind has its own word in `type`; here it stands for all of them.
  const fields = { ...envelope, type: { type: 'string', description: envelope.type.description } }
  const { secret, headers, body } = exampleDelivery
  return [
    `## Events\n\nWe send them to the URL that our team sets for you: [how to receive them](#webhooks). The body of every event is one envelope. \`data\` differs by \`type\`.`,
    tables.reply({ type: 'object', properties: fields } as unknown as TObject),
    `### A delivery, complete {#delivery}\n\nIts signature verifies with the secret \`${secret}\`. It is among the [test vectors](#gettestvectors), as \`${exampleDelivery.name}\`; the body is one line, without a line end.`,
    `${label('POST to your URL')}\n\n\`\`\`http\nPOST /webhooks HTTP/1.1\n${headers.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${body}\n\`\`\``,
    ...publicEventKinds.map(
      (kind) =>
        `### ${kind}\n\n${events[kind].description}\n\n${tables.reply(events[kind].data)}\n\n${exampleBlock('data', events[kind].example)}`,
    ),
  ].join('\n\n')
}

/** The error catalogue: a table to look a code up in, then each code with its cause and its cure. */
function errorsSection(tables: FieldTables): string {
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
