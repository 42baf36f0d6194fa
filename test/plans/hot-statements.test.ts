// proof: fills tables with half a year of rows.
// In a process of its own: it looks at every statement that its process has sent.

import { fileURLToPath } from 'node:url'
import { type ServiceName, serviceNames } from '@backoffice/contracts'
import { settings as gamesSettings, startGames } from '@backoffice/games'
import { loadConfig } from '@backoffice/process'
import {
  analyzeYoungTables,
  knownStatements,
  outboxBacklog,
  purge,
  runtimeRetentions,
  type Service,
} from '@backoffice/service-runtime/testing'
import { temporaryFolder, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { services } from '../services.ts'
import { type DeclaredField, Describer, faultsIn, readTemplates, type SourceTemplate } from './declared-rows.ts'
import {
  callAsOperator,
  callAsProvider,
  callAsTeam,
  callInTrouble,
  correctedAlone,
  newOperator,
  teamOf,
} from './every-operation.ts'
import { type PlanNode, Planner } from './plan.ts'
import { readsMuch, unsent } from './reads-much.ts'
import { fillSome, fillTables } from './volumes.ts'

const headsDir = temporaryFolder(t)
/** What the services' own roles send. Lists and exports are read with the roles for reading. */
const sentByWriters = new Set<string>()
const bed = await testBed(t, services, {
  intercept:
    () =>
    ({ kind, name }, run) => {
      if (kind === 'statement') sentByWriters.add(name)
      return run()
    },
  config: {
    payments: { INTENT_SWEEP_EVERY_MS: 100 },
    players: { KYC_SWEEP_EVERY_MS: 100, STATUS_SWEEP_EVERY_MS: 100 },
    wallet: { CHECKPOINT_EVERY_MS: 100, PLAY_DAYS_EVERY_MS: 100, CORRECT_ALONE_UP_TO: correctedAlone },
    reconciler: { HEADS_EXPORT_DIR: headsDir, HEADS_EXPORT_EVERY_MS: 100, CORRECT_ALONE_UP_TO: correctedAlone },
  },
})
const team = teamOf(bed)
const operator = await newOperator(t, team, bed.services.gateway.addresses.baseUrl)
const games = await startGames(loadConfig(gamesSettings, bed.gamesEnvironment()))
const playerId = await callAsOperator(operator, team, `http://127.0.0.1:${games.port}`)
await games.drain()
await callAsProvider(operator, bed, playerId)
await callInTrouble(operator, bed)
await callAsTeam(operator, team, playerId)
for (const name of serviceNames) {
  const running = bed.services[name]
  const service = services[name] as unknown as Service
  for (const retention of [...runtimeRetentions, ...(service.retentions ?? [])]) await purge(running, retention)
  // Composed once more, but not started: nobody collects metrics here.
  const { measurements = [] } = service.compose(
    running,
    loadConfig(service.configuration, bed.environment(name)) as never,
    {},
  )
  await analyzeYoungTables(running.db)
  for (const { read } of [outboxBacklog(running.db.reader, name), ...measurements]) await read()
}
for (const running of Object.values(bed.services)) await running.drain()
/** They read nothing, and have no plan. */
const ofTransactions = /^(savepoint|release savepoint|rollback to savepoint) /
const statements = knownStatements()
  .filter(({ text }) => !ofTransactions.test(text))
  .map(({ text }) => ({ text, line: inOneLine(text) }))

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

// The runtime's tables are in every schema, and filled in one.
const schemas: readonly ServiceName[] = ['payments', ...serviceNames.filter((name) => name !== 'payments')]

let connected: Promise<Planner> | undefined

/** Filled for the first plan only, because that takes most of the time. */
async function connectPlanner(): Promise<Planner> {
  await fillTables(bed.databaseUrl)
  const planner = await Planner.connect(bed.databaseUrl)
  t.teardown(() => planner.close())
  return planner
}

async function wasteOf(text: string): Promise<string[]> {
  connected ??= connectPlanner()
  const planner = await connected
  return planner.wasteIn(await planner.planOf(text, schemas))
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const templates = readTemplates(root, (file) => /^(services|packages)\/[^/]+\/src\//.test(file))
const keyOf = (strings: readonly string[]) => strings.join('$')
/** The statements of each template: with fragments in it, there are several. */
const textsOf = Map.groupBy(
  knownStatements().flatMap(({ text, templates }) => [...templates].map((strings) => ({ text, key: keyOf(strings) }))),
  ({ key }) => key,
)

/** The first words of a statement, as far as they are the same for all values. */
const beginningOf = ({ strings }: SourceTemplate) => inOneLine(strings[0] ?? '')

// Before the first test: tap ends a file that has tests and waits for something else.
const describer = await Describer.connect(bed.databaseUrl)
t.teardown(() => describer.close())

t.test('every statement of the source was sent', async (t) => {
  t.ok(templates.length > 200, 'they are found')
  const beginnings = new Set(templates.map(beginningOf))
  for (const [part] of unsent) t.ok(beginnings.has(part), `${part} is still there`)
  const expected = templates.filter((one) => !unsent.some(([part]) => part === beginningOf(one)))
  const missing = expected.filter(
    ({ strings }) => !textsOf.has(keyOf(strings)) && !ofTransactions.test(strings[0] ?? ''),
  )
  t.same(
    missing.map((one) => `${one.place}: ${beginningOf(one)}`),
    [],
  )
})

t.test('rows are what PostgreSQL says that they are', async (t) => {
  const faults = new Set<string>()
  for (const template of templates.filter(({ fields }) => fields.length > 0)) {
    // One that was not sent is described as it stands, with nothing but values put into it.
    const asItStands = template.strings.reduce((text, part, index) => `${text}$${index}${part}`)
    const texts = textsOf.get(keyOf(template.strings))?.map(({ text }) => text) ?? [asItStands]
    for (const text of texts)
      for (const fault of faultsIn(template, await describer.describe(text, schemas))) faults.add(fault)
  }
  t.same(
    templates.filter((one) => one.isOpen),
    [],
    'rows that may hold anything',
  )
  t.same([...faults], [])
})

const unlike: Readonly<Record<string, readonly [field: DeclaredField, fault: RegExp]>> = {
  'is not there': [{ name: 'newId', kind: 'string', isOptional: false }, /newId .* does not give it$/],
  'has another type': [{ name: 'id', kind: 'number', isOptional: false }, /is string \(text\)$/],
}
for (const [what, [field, fault]] of Object.entries(unlike))
  t.test(`a declared field that ${what} is noticed`, async (t) => {
    const template = { place: 'x.ts:1', strings: [], fields: [field], isOpen: false }
    t.match(faultsIn(template, await describer.describe('select id from deposit', schemas)), [fault])
  })

for (const { text, line } of statements) {
  if (readsMuch.some(([part]) => line.includes(part))) continue
  t.test(`reads only what it needs: ${line.slice(0, 120)}`, async (t) => t.same(await wasteOf(text), [], text))
}

for (const [part, reason, only = /./] of readsMuch)
  t.test(`reads much, since ${reason}: ${part}`, async (t) => {
    const named = statements.filter(({ line }) => line.includes(part))
    t.ok(named.length > 0, 'it is still there')
    const wastes: string[] = []
    for (const { text } of named) wastes.push(...(await wasteOf(text)))
    t.ok(wastes.length > 0, 'it still does')
    for (const waste of wastes) t.match(waste, only)
  })

t.test('as soon as tables that have grown are analysed the services read them by the right indexes', async (t) => {
  connected ??= connectPlanner()
  const filled = await connected
  const young = await testBed(t, services, { startServices: false })
  const planner = await Planner.connect(young.databaseUrl)
  t.teardown(() => planner.close())
  const found = async (look: (plan: PlanNode) => string[]) => {
    const sent = statements.filter(({ text }) => sentByWriters.has(text))
    const plans = await Promise.all(sent.map(({ text }) => planner.planOf(text, schemas)))
    return plans.flatMap((plan, index) => look(plan).map((one) => `${one}: ${sent[index]?.line}`))
  }
  await fillSome(young.databaseUrl)
  for (const service of serviceNames)
    while ((await young.sql('admin').query(`select ${service}.analyze_young_table() as name`)).rows[0].name !== null);
  const wasted = await found((plan) => [...filled.tablesReadIn(plan), ...filled.missedKeysIn(plan)])
  t.same(
    wasted.filter((one) => /\b(deposit|player): /.test(one)),
    [],
  )
})

t.test('what closed a proposal is not looked for in all of the trail', async (t) => {
  // The filled one. The others export theirs with the same words.
  const { text } = statements.find(({ line }) => /from "?payments"?\.audit_evidence/.test(line)) ?? { text: '' }
  connected ??= connectPlanner()
  const planner = await connected
  t.same(indexesOf(await planner.planOf(text, schemas), 'r'), ['audit_entry_of_closed_proposal'])
})

/** The indexes by which a plan reads a table. */
function indexesOf(node: PlanNode, alias: string): string[] {
  const below = (node.Plans ?? []).flatMap((child) => indexesOf(child, alias))
  return node.Alias === alias ? [node['Index Name'] ?? node['Node Type'], ...below] : below
}

const wasteful: Readonly<Record<string, readonly [statement: string, waste: RegExp]>> = {
  'no index': ['select from deposit where method = $1', /^reads all of deposit$/],
  'an index that is read from end to end': ['select id from deposit order by id desc', /^reads all of deposit_pkey$/],
  'a later column of an index': [
    'select from delivery where state = $1 and next_attempt_at < $2',
    /^reads all of delivery/,
  ],
  'a filter': [
    'select amount from entry where account_id = $1 and ($2::bigint is null or seq < $2) and seq is not null',
    /^filters entry: /,
  ],
  'a filter of a join': [
    `select e.amount from unnest($1::bigint[], $2::bigint[]) as asked (id, before)
      left join entry e on e.account_id = asked.id and e.seq is not null and (asked.before is null or e.seq < asked.before)`,
    /^filters what it joins: /,
  ],
  'a sort': ['select from (select * from deposit where brand_id > $1) d order by amount', /^sorts a table$/],
}
for (const [what, [statement, waste]] of Object.entries(wasteful))
  t.test(`is noticed: ${what}`, async (t) => t.match(await wasteOf(statement), [waste]))
