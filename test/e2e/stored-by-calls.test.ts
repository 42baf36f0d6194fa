// proof: makes each call until the tables have grown by enough to be measured.

import { randomInt } from 'node:crypto'
import { eventStream, operations } from '@backoffice/contracts'
import { eventually, type HttpReply, newCpf, newPlayer, serveHttp, testBed } from '@backoffice/test-kit'
import { jetstreamManager } from '@nats-io/jetstream'
import t from 'tap'
import { fund, operatorIn, register } from '../journey.ts'
import { services } from '../services.ts'

const config = {
  webhooks: { WEBHOOK_BACKOFF_BASE_MS: 20, WEBHOOK_ENDPOINT_CONCURRENCY: 1 },
  players: { STATUS_SWEEP_EVERY_MS: 100 },
}
const bed = await testBed(t, services, { config })
const admin = bed.sql('admin')
const team = bed.team('alice')
const streams = await jetstreamManager(await bed.nats('streams'), { checkAPI: false })

/** Nothing compresses it, and each character has four bytes. */
const heavy = (length: number) =>
  Array.from({ length }, () => String.fromCodePoint(0x20000 + randomInt(40_000))).join('')

/** Each delivery fails twice, and says more than is kept of it, unless the circuit would open: after five failures in a row. */
const failures = new Map<unknown, number>()
let inARow = 0
const url = await serveHttp(t, ({ headers }, response) => {
  const before = failures.get(headers['x-webhook-id']) ?? 0
  const fails = before < 2 && inARow < 4
  inARow = fails ? inARow + 1 : 0
  failures.set(headers['x-webhook-id'], before + 1)
  response.writeHead(fails ? 500 : 200).end(heavy(300))
})

const { operatorId, client } = await operatorIn(t, bed)
const ofEndpoint = { operatorId, environment: 'sandbox' as const, reason: 'test' }
await team.call(operations.webhooks.setWebhookUrl, { input: { ...ofEndpoint, url } })
const { id: player } = await register(client)
const decideKyc = (status: string) =>
  client.post(`/sandbox/players/${player}/kyc/decision`, { status, reason: heavy(480) })
await decideKyc('aprovado')
await fund(client, player, '900000.00')

const idOf = ({ body }: HttpReply): string => body.id
const deposit = () => {
  const body = { amount: '1.00', currency: 'BRL', method: heavy(60), externalReference: heavy(120) }
  return client.post(`/players/${player}/deposits`, body)
}
const withdrawal = (amount: string) => {
  const body = { amount, currency: 'BRL', method: heavy(60), destination: heavy(120) }
  return client.post(`/players/${player}/withdrawals`, body)
}
const decide = (id: string, decision: string) =>
  client.post(`/sandbox/withdrawals/${id}/decision`, { decision, reason: heavy(480) })

const excludedCpf = newCpf()
const { id: excluded } = (await client.post('/players', newPlayer({ cpf: excludedCpf }))).body
await team.call(operations.players.selfExcludePlayer, { input: { playerId: excluded, until: null } })

/** The heaviest calls of each kind, with what ends a record. */
const kinds: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
  'a player': () => {
    const email = `${'a'.repeat(60)}@${'b'.repeat(60)}.co`
    const phone = '+5511987654321'
    const body = { externalId: heavy(120), name: heavy(190), email, phone, cpf: newCpf(), birthDate: '1990-01-01' }
    return client.post('/players', body)
  },
  'an account of somebody who is excluded': () => client.post('/players', newPlayer({ cpf: excludedCpf })),
  'a deposit that is confirmed': async () => client.post(`/deposits/${idOf(await deposit())}/confirm`),
  'a deposit that fails': async () => client.post(`/deposits/${idOf(await deposit())}/fail`, { reason: heavy(480) }),
  'a withdrawal that is paid': async () => {
    const id = idOf(await withdrawal('1.00'))
    await decide(id, 'approve')
    await decide(id, 'pay')
  },
  'a withdrawal that is cancelled': async () => client.post(`/withdrawals/${idOf(await withdrawal('1.00'))}/cancel`),
  'a withdrawal without money': () => withdrawal('99999999.00'),
  'a confirmation of nothing': () => client.post('/deposits/dep_unknown/confirm'),
  'a decision of nothing': () => decide('wdr_unknown', 'pay'),
  'a request that is not valid': () =>
    client.post(`/players/${player}/deposits`, Object.fromEntries(Array.from({ length: 60 }, () => [heavy(150), 1]))),
  'a game session': () => client.post(`/players/${player}/game-sessions`, { gameId: 'fortune-reels' }),
  'a test of the webhook': () => client.post('/webhooks/test'),
  'a KYC decision': (index) => decideKyc(index % 2 === 0 ? 'expirado' : 'reprovado'),
  'a KYC submission': () =>
    client.post(`/players/${player}/kyc/submissions`, { documentType: 'rg', reference: heavy(250) }),
}

interface Sizes {
  readonly bytes: number
  readonly rows: number
}

/** All tables with their indexes, and the stream of events. What is kept of refused requests has a bound of its own. */
async function kept(): Promise<Sizes> {
  const { rows: tables } = await admin.query<{ name: string }>(`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('gateway', 'players', 'wallet', 'payments', 'webhooks') and c.relkind = 'r' and pg_relation_size(c.oid) > 0
      and c.relname <> all(array['refused_request', 'refused_today'])`)
  // How many replaced rows are still there, and how full pages are, depends on what else this machine does.
  await admin.query(`vacuum (full) ${tables.map(({ name }) => name).join()}`)
  const sizes = tables.map(({ name }) => `select pg_total_relation_size('${name}') as b, count(*) as r from ${name}`)
  const { rows } = await admin.query(
    `select sum(b)::float8 as bytes, sum(r)::float8 as rows from (${sizes.join(' union all ')})`,
  )
  const { state } = await streams.streams.info(eventStream)
  return { bytes: rows[0].bytes + state.bytes, rows: rows[0].rows }
}

async function counted(): Promise<Sizes> {
  const { storedToday = [] } = await team.call(operations.gateway.getOperator, { input: { name: operatorId } })
  return storedToday[0] ?? { bytes: 0, rows: 0 }
}

const unfinished = `select (select count(*) from webhooks.delivery where state = 'pending')
  + (select count(*) from payments.outbox) + (select count(*) from players.outbox)
  + (select count(*) from players.told_status where due_at < now() + interval '1 minute') as left`

/**
 * What is kept and what is counted, once nothing is under way. Calls are counted in memory and written soon after: what the
 * second of two later calls adds comes after all that was before.
 */
async function settled(): Promise<{ readonly kept: Sizes; readonly counted: Sizes }> {
  await eventually(async () => (await admin.query(unfinished)).rows[0].left === '0')
  for (let round = 1; round <= 2; round++) {
    const { rows } = await counted()
    await client.post('/deposits/dep_unknown/confirm')
    await eventually(async () => (await counted()).rows > rows)
  }
  return { kept: await kept(), counted: await counted() }
}

/** Enough that what is left of a page, in some twenty tables, is little for each call. */
const calls = 160
const atOnce = 8

t.test('no call makes the system keep more than is counted of it', async (t) => {
  let before = await settled()
  for (const [name, call] of Object.entries(kinds)) {
    for (let index = 0; index < calls; index += atOnce)
      await Promise.all(Array.from({ length: atOnce }, (_, next) => call(index + next)))
    const after = await settled()
    for (const what of ['bytes', 'rows'] as const) {
      const real = Math.round((after.kept[what] - before.kept[what]) / calls)
      const counts = Math.round((after.counted[what] - before.counted[what]) / calls)
      t.ok(counts >= real, `${name}: ${what} ${counts} counted, ${real} kept`)
    }
    before = after
  }
})
