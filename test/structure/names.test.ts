import { globSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { services } from '../services.ts'
import { root, sourceFiles } from './source-files.ts'

// Names that say nothing about what is inside.
const forbidden = /^(utils?|common|helpers?|managers?|misc|shared|stuff)$/

t.test('no file or folder is named utils, common, helper or manager', async (t) => {
  const offenders = sourceFiles()
    .map((file) => file.path)
    .filter((path) => {
      const words = [...dirname(path).split('/'), basename(path)].flatMap((name) => name.split(/[-.]/))
      return words.some((word) => forbidden.test(word))
    })
  t.same(offenders, [])
})

t.test("an operation's handler has the operation's name", async (t) => {
  const handlers = sourceFiles()
    .filter(({ path }) => /^services\/\w+\/src\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\bhandle\(\s*operations\.\w+\.(\w+)/g)].map(([, id = '']) => ({ path, text, id })),
    )
  t.ok(handlers.length > 60)
  const offenders = handlers.filter(({ text, id }) => !new RegExp(`^export const ${id}\\b`, 'm').test(text))
  t.same(
    offenders.map(({ path, id }) => `${path}: ${id}`),
    [],
  )
})

t.test('a file of a service has at most 350 lines', async (t) => {
  const long = sourceFiles().filter(
    ({ path, text }) => /^services\/\w+\/src\//.test(path) && text.split('\n').length > 351,
  )
  t.same(
    long.map(({ path }) => path),
    [],
  )
})

t.test('an event is sent by the service that its entry names', async (t) => {
  const { eventKinds, events } = await import('@backoffice/contracts')
  const sent = sourceFiles().flatMap(({ path, text }) => {
    const [, service = ''] = /^services\/(\w+)\/src\//.exec(path) ?? []
    const kinds = [...text.matchAll(/\b(?:kind|type): '(\w+\.\w+)'/g)].map(([, kind = '']) => kind)
    return service === '' ? [] : kinds.map((kind) => `${kind} by ${service}`)
  })
  t.same([...new Set(sent)].sort(), eventKinds.map((kind) => `${kind} by ${events[kind].emittedBy}`).sort())
})

t.test(
  'what belongs together is told by an id: nothing that is compared or shown joins two tables by a time',
  async (t) => {
    const judging = sourceFiles().filter(
      ({ path }) =>
        /^services\/\w+\/src\/(reconciliation|statement|storage)\//.test(path) ||
        path.startsWith('packages/team-access/src/'),
    )
    t.ok(judging.length > 60)
    const offenders = judging.flatMap(({ path, text }) => joinsByTime(text).map((join) => `${path}: ${join}`))
    t.same(offenders, [])
    const join = 'join a on (a.subject, a.at, a.actor) = (c.player_id, c.at, c.actor)'
    t.same(
      [join, 'where c.at = t.created_at', "a.at between d.at - interval '1 minute' and d.at"].map(
        (one) => joinsByTime(one).length,
      ),
      [1, 1, 0],
    )
  },
)

/** Equations in which a time of one table stands on one side, and one of another table on the other. */
function joinsByTime(text: string): string[] {
  const side = /(?:\([^()]*\)|\b\w+\.\w+)/.source
  return [...text.matchAll(new RegExp(`(${side})\\s*(?:=|is not distinct from)\\s*(${side})`, 'g'))].flatMap(
    ([equation, ...sides]) =>
      sides.every((one) => /\b\w+\.(?:at|\w+_at)\b/.test(one)) ? [equation.replace(/\s+/g, ' ')] : [],
  )
}

t.test('a log line can be read alone: it is a sentence that names its subject', async (t) => {
  const calls = sourceFiles()
    .filter(({ path }) => /^(services|packages)\/[\w-]+\/src\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\blog\??\.(?:debug|info|warn|error|fatal)\(\s*(?:\{[^}]*\},\s*)?(['`])(.+?)\1,?\s*\)/g)].map(
        ([, , said = '']) => ({ path, said }),
      ),
    )
  t.ok(calls.length > 50)
  t.same(
    calls.filter(({ said }) => said.split(' ').length < 4),
    [],
  )
})

const isOfRuntime = (name: string) => name.startsWith('0000_runtime_')

for (const service of serviceNames) {
  t.test(`every migration of ${service} is applied, under the name of its file and in that order`, async (t) => {
    const files = globSync(`services/${service}/src/storage/migrations/[0-9]*.ts`, { cwd: root })
    const applied = services[service].migrations.map(({ name }) => name)
    t.same(
      applied.filter((name) => !isOfRuntime(name)),
      files.map((path) => basename(path, '.ts').replaceAll('-', '_')).sort(),
    )
  })
}

/** Tables that nothing is purged from, each with the reason why it may stay, or does not grow. */
const kept: Readonly<Record<string, string>> = {
  'gateway.operator': 'a record',
  'gateway.brand': 'a record',
  'gateway.credential': 'a record',
  'gateway.rate_window': 'one row for each operator and environment',
  'gateway.daily_use': 'one row for each operator and environment',
  'gateway.homologation_proof': 'one row for each operator and check',
  'gateway.rate_refusal': 'one row for each operator',
  'gateway.refused_today': 'two rows for each operator and environment',
  'gateway.provider': 'a record',
  'gateway.provider_key': 'a record',
  'gateway.provider_brand': 'a record',
  'players.player': 'a record',
  'players.kyc_submission': 'a record',
  'players.player_change': 'the history of a record',
  'players.told_status': 'one row for each player whose status has changed',
  'players.game': 'the catalogue',
  'players.brand_game': 'the catalogue',
  'players.game_provider': 'the catalogue',
  'wallet.brand': 'one row for each brand',
  'players.brand': 'one row for each brand',
  'payments.brand': 'one row for each brand',
  'webhooks.brand': 'one row for each brand',
  'players.document_source': 'one row for each operator and environment',
  'wallet.account': 'the ledger',
  'wallet.transfer': 'the ledger',
  'wallet.entry': 'the ledger',
  'wallet.hold': 'the ledger',
  'wallet.round': 'the record of what was played',
  'wallet.play': 'the record of what was played',
  'wallet.held_win': 'a record',
  'wallet.win_limit': 'one row for each provider and brand',
  'wallet.play_day': 'one row for each brand and day',
  'webhooks.delivery_position': 'one row',
  'wallet.money_day': 'two rows for each brand, currency and day',
  'wallet.money_position': 'two rows for each brand',
  'wallet.system_checkpoint': 'one row for each system account',
  'gateway.credential_use': 'one row for each key',
  'reconciler.account_checkpoint': 'one row for each account',
  'reconciler.checkpoint': 'one row',
  'reconciler.moment': 'a short row for each run and each five minutes',
  'reconciler.proof': 'one row for each of 128 pieces',
  'payments.deposit': 'a record',
  'payments.depositor': 'one row for each player',
  'payments.status_transition': 'the history of records',
  'payments.ended_command': 'the history of records',
  'payments.payment_file': 'a record',
  'webhooks.endpoint': 'one row for each operator and environment',
  'webhooks.attempt': 'goes with its delivery',
  'webhooks.lease': 'at most as many rows for each endpoint as may be under way',
  'webhooks.judged_event': 'one row for each service that publishes events',
}

t.test('every table of a service is purged, or is named here with the reason why it is kept', async (t) => {
  const purged = new Set<string>()
  const tables = new Set<string>()
  for (const { name: service, migrations, retentions = [] } of Object.values(services)) {
    for (const { sql } of migrations.filter(({ name }) => !isOfRuntime(name)))
      for (const [, table = ''] of sql.matchAll(/\bcreate table (\w+\.\w+)/g)) tables.add(table)
    for (const { table } of retentions) purged.add(`${service}.${table}`)
  }
  t.same([...purged, ...Object.keys(kept)].sort(), [...tables].sort())
})
