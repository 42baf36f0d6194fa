import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { services } from '../services.ts'
import { root } from './source-files.ts'

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
