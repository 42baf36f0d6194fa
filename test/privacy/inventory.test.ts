import { hasMasked, operations, type PersonalKind, personal, personalKinds } from '@backoffice/contracts'
import { dayMs } from '@backoffice/process'
import { purge, runtimeRetentions, type Service } from '@backoffice/service-runtime/testing'
import { testBed } from '@backoffice/test-kit'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { services } from '../services.ts'
import { columnsWith, leaveTraces, listedColumns, listedKinds, listedTimes } from './traces.ts'

const sorted = (kinds: Iterable<string>) => [...kinds].sort()

// Nothing is sealed here, so that each trace is found. Before the first test: without one under way, the file would end
// while the system starts.
// What is of the sandbox is kept as long as the rest, so that a service's own purge takes nothing from this file.
const config = Object.fromEntries(Object.keys(services).map((name) => [name, { SANDBOX_KEEP_HOURS: 8_760 }]))
const bed = await testBed(t, services, { config, seals: () => false })
const admin = bed.sql('admin')
const { playerId, texts, client, post, team } = await leaveTraces(t, bed)

t.test('docs/privacy.md lists each kind of data, and which the team reads masked', async (t) => {
  const kinds = Object.keys(personalKinds) as PersonalKind[]
  t.same(
    listedKinds,
    kinds.map((kind) => ({ kind, masked: hasMasked(personal(kind, Type.String())) })),
  )
})

const reason = 'request of the player'

const retentions = Object.values(services).flatMap((service) =>
  [...runtimeRetentions, ...((service as unknown as Service).retentions ?? [])].map((retention) => ({
    ...retention,
    service: service.name,
    name: `${service.name}.${retention.table}`,
  })),
)

t.test('docs/privacy.md lists every column in which a trace of a person is found, and no other', async (t) => {
  const found = await columnsWith(admin, texts)
  t.same(
    new Map([...listedColumns].map(([column, kinds]) => [column, sorted(kinds)])),
    new Map([...found].map(([column, kinds]) => [column, sorted(kinds)])),
  )
})

t.test('docs/privacy.md says of each copy after how many days it is deleted', async (t) => {
  const purged = new Map(retentions.map(({ name, keepMs }) => [name, keepMs / dayMs]))
  for (const [table, kept] of listedTimes) {
    const [, days] = /^(\d+) days?\b/.exec(kept) ?? []
    t.equal(days === undefined ? undefined : Number(days), purged.get(table), `${table}: ${kept}`)
  }
})

/** Tables with nothing about players but copies, or with nothing about players at all. */
const notExported = /^(gateway|webhooks|reconciler)\.|\.(operation|outbox|published_event|team_session|reconciliation)$/

t.test('the export of a player has everything that is found in tables that are kept', async (t) => {
  const exported: { table: string; values: Readonly<Record<string, string | null>> }[] = []
  for (const service of ['players', 'payments', 'wallet'] as const) {
    const { rows, nextCursor } = await team(operations[service].exportPlayer, { playerId })
    t.equal(nextCursor, null)
    for (const { table, values } of rows) exported.push({ table: `${service}.${table}`, values })
  }
  for (const [place, kinds] of listedColumns) {
    const [service, name, column = ''] = place.split('.')
    const table = `${service}.${name}`
    if (notExported.test(table)) continue
    const stored = exported.filter((row) => row.table === table).map(({ values }) => values[column] ?? '')
    for (const kind of kinds) t.ok(stored.join('\n').includes(texts[kind as PersonalKind]), `${place}: ${kind}`)
  }
})

const identifying: readonly PersonalKind[] = [
  'externalId',
  'name',
  'cpf',
  'email',
  'phone',
  'birthDate',
  'document',
  'destination',
]

t.test('a player with money who is not closed is not anonymised', async (t) => {
  await t.rejects(team(operations.players.anonymisePlayer, { playerId }), {
    code: 'PLAYER_DATA_NEEDED',
    details: { reasons: ['status', 'money'] },
  })
})

t.test('in production the records are kept for five years after the last change', async (t) => {
  const scope = bed.scope({ environment: 'production', brandId: 'brd_live' })
  const { body } = operations.players.registerPlayer.example ?? {}
  const { id } = await bed.rpc.call(operations.players.registerPlayer, { scope, input: body as never })
  await team(operations.players.setPlayerStatus, { playerId: id, status: 'encerrado' })
  await t.rejects(team(operations.players.anonymisePlayer, { playerId: id }), {
    code: 'PLAYER_DATA_NEEDED',
    details: { reasons: ['retention'] },
  })
})

/** The ledger of the player, hashes included. */
const ledger = async () =>
  (
    await admin.query(
      `select to_jsonb(a) as account, to_jsonb(e) as entry, to_jsonb(t) as transfer from wallet.account a
       join wallet.entry e on e.account_id = a.id join wallet.transfer t on t.id = e.transfer_id
       where a.owner_id = $1 order by e.seq`,
      [playerId],
    )
  ).rows

t.test('an anonymised player names nobody, and the ledger is as it was', async (t) => {
  const { available } = (await client.get(`/players/${playerId}/wallet`)).body
  await team(operations.wallet.adjustWallet, { playerId, amount: `-${available}`, reference: 'paid-out' })
  await team(operations.players.setPlayerStatus, { playerId, status: 'encerrado' })
  const before = await ledger()
  const shown = await bed.team('alice').call(operations.players.anonymisePlayer, { input: { playerId, reason } })
  t.match(shown, { id: playerId, status: 'encerrado', name: 'anonymised' })
  t.strictSame(await ledger(), before)
  const { changes, submissions } = await bed.team('alice').call(operations.players.showPlayer, { input: { playerId } })
  t.match(submissions, [{ reference: 'anonymised', salt: '' }])
  t.match(changes[0], { actor: 'alice', field: 'identity', to: 'anonymised', reason })

  const copies = new Set([...listedTimes].flatMap(([table, time]) => (/player|for good/.test(time) ? [] : [table])))
  for (const [place, kinds] of await columnsWith(admin, texts)) {
    if (copies.has(place.split('.').slice(0, 2).join('.'))) continue
    t.same(
      identifying.filter((kind) => kinds.has(kind)),
      [],
      place,
    )
  }
  const again = await bed.team('bob').call(operations.players.anonymisePlayer, { input: { playerId, reason } })
  t.strictSame(again, shown, 'once is enough')
})

t.test('the operator still reads the records of an anonymised player', async (t) => {
  for (const path of ['wallet', 'transactions', 'kyc']) {
    t.equal((await client.get(`/players/${playerId}/${path}`)).status, 200, path)
  }
  t.strictSame((await client.get(`/players?externalId=${texts.externalId}`)).body, { data: [] })
})

t.test('after their time no copy has anything that identified the player', async (t) => {
  for (const { service, table, column, keepMs } of retentions) {
    const age = `update ${service}.${table} set ${column} = now() - make_interval(secs => $1) where ${column} is not null`
    await admin.query(age, [keepMs / 1_000 - 3_600])
    await purge(bed.services[service], { table, column, keepMs })
  }
  const full = await columnsWith(admin, texts)
  t.ok(full.get('players.operation.reply')?.has('cpf') && full.get('gateway.claim.body')?.has('cpf'), 'not before it')
  for (const { service, table, column, keepMs } of retentions) {
    await admin.query(`update ${service}.${table} set ${column} = ${column} - interval '2 hours'`)
    await purge(bed.services[service], { table, column, keepMs })
  }
  const left = [...(await columnsWith(admin, texts))].map(
    ([place, kinds]) => [place, identifying.filter((kind) => kinds.has(kind))] as const,
  )
  t.same(
    left.filter(([, kinds]) => kinds.length > 0),
    [],
  )
})

t.test('the external id of an anonymised player is free', async (t) => {
  const { body } = operations.players.registerPlayer.example ?? {}
  const { id } = await post('/players', { ...(body as object), externalId: texts.externalId })
  t.not(id, playerId)
})
