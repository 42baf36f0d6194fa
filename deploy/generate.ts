// `npm run generate`: writes everything in the repository that follows from something else in it. A test compares what is checked in.
import { readFileSync, writeFileSync } from 'node:fs'
import {
  allOperations,
  eventKinds,
  events,
  type PersonalKind,
  personalKinds,
  personalKindsIn,
  publicEventKinds,
  renderPermissionsFile,
} from '@backoffice/contracts'
import { renderDashboard } from './telemetry/dashboard.ts'

// The tables of documents that say no more than the tables of operations and events do.

type Schemas = readonly Parameters<typeof personalKindsIn>[0][]

/** The kinds of personal data that are marked in some schemas, in the order of the document. */
function kindsIn(schemas: Schemas, isShown: (kind: PersonalKind) => boolean = () => true): string {
  const found = new Set(schemas.flatMap((schema) => [...personalKindsIn(schema)]))
  const kinds = (Object.keys(personalKinds) as PersonalKind[]).filter((kind) => found.has(kind) && isShown(kind))
  return kinds.length === 0 ? '–' : kinds.join(' ')
}

/** Ids are in nearly every message, and so are notes and who acted. */
const isMore = (kind: PersonalKind) => !['player', 'note', 'staff'].includes(kind)

/** A row for each pair of cells, with the operations that carry the same. */
function carriedByOperations(): readonly string[] {
  const carried = allOperations.map(({ service, id, params, query, body, reply }) => ({
    name: `\`${service}.${id}\``,
    cells: `${kindsIn([params, query, body], isMore)} | ${kindsIn([reply], isMore)}`,
  }))
  const rows = Map.groupBy(carried, ({ cells }) => cells)
  rows.delete('– | –')
  return [...rows].map(([cells, alike]) => `| ${alike.map(({ name }) => name).join(', ')} | ${cells} |`)
}

const carriedByEvents = () => eventKinds.map((kind) => `| \`${kind}\` | ${kindsIn([events[kind].data])} |`)
/** Each leads to its fields and an example. */
const sentEvents = () =>
  publicEventKinds.map((kind) => {
    const named = `[\`${kind}\`](guide.md#${kind.replace('.', '')})`
    return `| ${named} | ${events[kind].description.replace(/^Sent /, '')} |`
  })

/** The document with other rows in the table that has these columns. */
function withRows(text: string, columns: string, rows: readonly string[]): string {
  const head = `| ${columns} |\n|${'---|'.repeat(columns.split(' | ').length)}\n`
  const [before, after] = text.split(head)
  if (before === undefined || after === undefined) throw new Error(`no table has the columns ${columns}`)
  return `${before}${head}${rows.join('\n')}\n${after.replace(/^(\|.*\n)+/, '')}`
}

const read = (name: string) => readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8')

const renderPrivacy = (): string =>
  withRows(
    withRows(read('privacy'), 'operation | is given | replies with', carriedByOperations()),
    'event | carries',
    carriedByEvents(),
  )

const renderWebhooks = (): string => withRows(read('webhooks'), 'event | sent', sentEvents())

/**
 * The rule files of deploy/telemetry as the operator of Prometheus takes them. They stay what promtool and a Prometheus without
 * the operator read.
 */
const ruleFiles = { backoffice: 'alerts.yaml', 'backoffice-platform': 'platform-alerts.yaml' }

function renderRules(): string {
  const documents = Object.entries(ruleFiles).map(([name, file]) => {
    const text = readFileSync(new URL(`telemetry/${file}`, import.meta.url), 'utf8')
    const groups = text.slice(text.indexOf('\ngroups:') + 1).replace(/^(?=.)/gm, '  ')
    return `apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: ${name}\nspec:\n${groups}`
  })
  return `# Written by \`npm run generate\` from deploy/telemetry. Change the files there.\n${documents.join('---\n')}`
}

/** What each file says, by its path from the root of the repository. */
export const generated: Readonly<Record<string, () => string>> = {
  'deploy/nats/permissions.conf': renderPermissionsFile,
  'deploy/k8s/monitoring/rules.yaml': renderRules,
  'deploy/telemetry/dashboard.json': renderDashboard,
  'docs/privacy.md': renderPrivacy,
  'docs/webhooks.md': renderWebhooks,
}

const root = new URL('..', import.meta.url)
export const isStale = (path: string, render: () => string) => readFileSync(new URL(path, root), 'utf8') !== render()

if (import.meta.main) {
  for (const [path, render] of Object.entries(generated)) {
    if (!isStale(path, render)) continue
    writeFileSync(new URL(path, root), render())
    process.stdout.write(`${path}\n`)
  }
}
