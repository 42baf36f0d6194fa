import {
  commonRejects,
  type ErrorCode,
  errorAnchor,
  eventEnvelope,
  events,
  type Operation,
  type ProviderErrorCode,
  type PublicErrorCode,
  tags,
} from '@backoffice/contracts'
import type { TObject } from '@sinclair/typebox'
import { FieldTables, type SharedRecord, sharedRecords } from './field-tables.ts'
import { sampleMark } from './sample-panels.ts'
import { errorOf, operators, type Surface } from './surface.ts'
import { exampleDelivery } from './test-vectors.ts'

/** The reference as Markdown, derived from the operation, event and error tables. Headings are `#` level 2 and 3. */
export function referenceMarkdown(surface: Surface = operators): string {
  const tables = new FieldTables()
  const groups = Map.groupBy(surface.operations, (operation) => operation.tag ?? 'Documents')
  const sections = Array.from(groups, ([tag, operations]) => [
    `## ${tag}\n\n${tags[tag]}`,
    ...sharedRecords.filter((record) => record.tag === tag).map((record) => recordSection(record, tables, surface)),
    ...operations.map((operation) => operationSection(operation, tables, surface)),
  ])
  const events = surface.events.length > 0 ? [eventsSection(tables, surface)] : []
  return [...sections.flat(), ...events, errorsSection(tables, surface)].join('\n\n')
}

function recordSection(record: SharedRecord, tables: FieldTables, { operations }: Surface): string {
  const { title, id, schema } = record
  const example = operations.find(({ reply }) => reply === schema)?.example?.reply
  return paragraphs([
    `### ${title} {#${id}}`,
    schema.description ?? '',
    tables.record(record),
    exampleBlock(title, example),
  ])
}

const paragraphs = (parts: readonly string[]) => parts.filter((part) => part !== '').join('\n\n')
const label = (text: string) => `<p class="label">${text}</p>`

function operationSection(operation: Operation, tables: FieldTables, surface: Surface): string {
  const { http, id, audience, params, query, body, hasBody, reply, example } = operation
  if (http === undefined) return ''
  const isPublic = audience === 'public'
  // Samples and the tester sign as operators do.
  const hasSamples = !isPublic && surface === operators
  const tryIt = !hasSamples ? '' : ` <button type="button" class="try" data-operation="${id}">Try it</button>`
  // What needs no signature is a click away.
  const path = isPublic
    ? `<a href="{{baseUrl}}${http.path}"><code>${http.path}</code></a>`
    : `<code>${http.path}</code>`
  const hasFields = Object.keys(body.properties).length > 0
  const replyTable = tables.reply(reply)
  return paragraphs([
    `### ${operation.summary} {#${id.toLowerCase()}}`,
    hasSamples ? sampleMark(id) : '',
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
    errorsOf(operation, surface),
  ])
}

function exampleBlock(title: string, example: unknown): string {
  if (example === undefined) return ''
  return `${label(title)}\n\n\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``
}

const anchorOf = (code: ErrorCode) => errorAnchor(code as PublicErrorCode | ProviderErrorCode)

function errorsOf(operation: Operation, surface: Surface): string {
  const own = [...new Set(operation.rejects)]
  const shared = commonRejects(operation).filter((code) => !own.includes(code))
  const list = (codes: readonly ErrorCode[]) =>
    codes
      .map((code) => {
        const { status } = errorOf(surface, code)
        return `<a href="#${anchorOf(code)}"><code>${status} ${code}</code></a>`
      })
      .join(' ')
  const summary = `<details><summary>Errors every such route may answer</summary>\n\n${list(shared)}\n\n</details>`
  return own.length > 0 ? `${label('Refusals, in order of precedence')}\n\n${list(own)}\n\n${summary}` : summary
}

function eventsSection(tables: FieldTables, surface: Surface): string {
  const { data: _, ...envelope } = eventEnvelope('webhook.test').properties
  // Each kind has its own word in `type`; here it stands for all of them.
  const fields = { ...envelope, type: { type: 'string', description: envelope.type.description } }
  const { secret, headers, body } = exampleDelivery
  return [
    `## Events\n\nWe send them to the URL that our team sets for you: [how to receive them](#webhooks). The body of every event is one envelope. \`data\` differs by \`type\`.`,
    tables.reply({ type: 'object', properties: fields } as unknown as TObject),
    `### A delivery, complete {#delivery}\n\nIts signature verifies with the secret \`${secret}\`. It is among the [test vectors](#gettestvectors), as \`${exampleDelivery.name}\`; the body is one line, without a line end.`,
    `${label('POST to your URL')}\n\n\`\`\`http\nPOST /webhooks HTTP/1.1\n${headers.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${body}\n\`\`\``,
    ...surface.events.map(
      (kind) =>
        `### ${kind}\n\n${events[kind].description}\n\n${tables.reply(events[kind].data)}\n\n${exampleBlock('data', events[kind].example)}`,
    ),
  ].join('\n\n')
}

/** The error catalogue: a table to look a code up in, then each code with its cause and its cure. */
function errorsSection(tables: FieldTables, surface: Surface): string {
  const rows = Array.from(
    surface.errors,
    ([code, { status, message, retry }]) => `| ${status} | [\`${code}\`](#${anchorOf(code)}) | ${message} | ${retry} |`,
  )
  return [
    '## Error codes',
    surface.errorsIntroduction,
    `| HTTP | Code | Meaning | Retry |\n|---|---|---|---|\n${rows.join('\n')}`,
    ...[...surface.errors.keys()].map((code) => errorEntry(code, tables, surface)),
  ].join('\n\n')
}

function errorEntry(code: ErrorCode, tables: FieldTables, surface: Surface): string {
  const { status, cause, cure, retryAdvice, details } = errorOf(surface, code)
  const parts = [
    `### ${code} {#${anchorOf(code)}}`,
    // Who follows the link of a reply sees this entry, and not the table.
    `<p class="status">HTTP ${status} · ${retryAdvice}</p>`,
    `**Cause.** ${cause}`,
    `**Cure.** ${cure}`,
  ]
  if (details === undefined) return parts.join('\n\n')
  const { description } = details.schema
  if (description !== undefined) parts.push(`\`details\`: ${description}`)
  return [...parts, tables.details(details.schema)].join('\n\n')
}
