import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type BrokerUser,
  brokerUsers,
  eventSubject,
  type Operation,
  operations,
  type PersonalKind,
  type ServiceName,
  sealedKinds,
  serviceNames,
  streamApi,
  streamBytesMin,
  streamConfiguration,
  streamKeeper,
} from '@backoffice/contracts'
import { type RunningNats, startNats } from '@backoffice/local-stack'
import { connectNats } from '@backoffice/rpc'
import { eventually, OperatorClient, testBed } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { services } from '../services.ts'
import { columnsWith, destination, leaveBrokenEvent, leaveTraces, listedSealed, person } from './traces.ts'

// What docs/privacy.md says under Encryption: a dump of the database and the files of NATS show no CPF, e-mail, phone or
// payout destination, and everything that needs them still works.

const keysOf = (...ids: readonly string[]) =>
  ids.map((id) => `${id}:${Buffer.alloc(32, id).toString('base64')}`).join(',')

/** Of every service; changed before a restart. */
const settings = { MASTER_KEYS: keysOf('first'), GAMES_HOST: '127.0.0.1' }
let seals = true
/** Before each statement of a service, while the team seals. */
let lookForLocks: (() => Promise<void>) | undefined

const dir = mkdtempSync(join(tmpdir(), 'backoffice-sealed-'))
let broker: RunningNats | undefined
t.teardown(async () => {
  await broker?.child.stop()
  rmSync(dir, { recursive: true, force: true })
})

const bed = await testBed(t, services, {
  config: Object.fromEntries(serviceNames.map((name) => [name, settings])),
  seals: () => seals,
  intercept: () => async (step, run) => {
    if (step.kind === 'statement') await lookForLocks?.()
    return run()
  },
  servers: {
    async nats(users) {
      broker = await startNats({ dir, ...users, storeKey: 'of-the-store' })
      return broker
    },
  },
})
const admin = bed.sql('admin')

async function restart(changes: Partial<typeof settings>): Promise<void> {
  Object.assign(settings, changes)
  await Promise.all(serviceNames.map((name) => bed.services[name].drain()))
  for (const name of ['webhooks', 'wallet', 'players', 'payments', 'gateway', 'reconciler'] as const)
    Object.assign(bed.services, { [name]: await bed.start(name) })
}

const { playerId, texts, credentials, team } = await leaveTraces(t, bed)

const clientNow = () => {
  const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, credentials)
  t.teardown(() => client.close())
  return client
}

const only = (kinds: readonly string[]) =>
  Object.fromEntries(Object.entries(texts).map(([kind, text]) => [kind, kinds.includes(kind) ? text : randomUUID()]))
const sealedTexts = only(sealedKinds) as Record<PersonalKind, string>

/** Where the database shows what must be sealed. */
const places = async () => [...(await columnsWith(admin, sealedTexts)).keys()].sort()

/** Where the database has something under a master key. Digests of inputs cannot be made anew, and go with their rows. */
async function placesUnder(keyId: string): Promise<string[]> {
  const found = await columnsWith(admin, { ...only([]), note: `${keyId}.` } as Record<PersonalKind, string>)
  return [...found.keys()].filter((place) => !place.endsWith('.operation.fingerprint')).sort()
}

const sealedPlaces = [
  'gateway.claim.body',
  'payments.operation.reply',
  'payments.published_event.message',
  'payments.withdrawal.sealed_destination',
  'players.operation.reply',
  'players.player.sealed_identity',
  'webhooks.attempt.sealed_response_head',
  'webhooks.delivery.body',
  'webhooks.set_aside_message.payload',
]
/** Secrets of operators, under the same keys. */
const secretPlaces = ['gateway.credential.sealed_secret', 'webhooks.secret.sealed']
/** What players and shared destinations are found by, under keys that are derived from the same. */
const digestPlaces = [
  'payments.withdrawal.destination_digest',
  ...['cpf', 'email', 'phone'].map((name) => `players.player.${name}_digest`),
]

/** Every file below a folder, as one. @param part only of folders whose path ends so, @param kind and files */
const bytesBelow = (folder: string, part = '', kind = ''): Buffer =>
  Buffer.concat(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && file.parentPath.endsWith(part) && file.name.endsWith(kind))
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name))),
  )

t.test('no table shows a CPF, e-mail, phone or payout destination', async (t) => {
  t.same(await places(), [])
  t.same(
    await placesUnder('first'),
    [...sealedPlaces, ...secretPlaces, ...digestPlaces].sort(),
    'they are there, sealed',
  )
  t.same([...listedSealed].sort(), sealedPlaces, 'docs/privacy.md lists these columns')
  const { rows } = await admin.query("select from payments.operation where fingerprint like 'first.%'")
  t.ok(rows.length > 0, 'the digest of an input that can be guessed is keyed')
})

t.test('the encrypted store of NATS shows nothing of an event', (t) => {
  const store = join(dir, 'jetstream')
  const messages = bytesBelow(store, 'EVENTS/msgs', '.blk')
  t.ok(messages.length > 1_000, 'events are stored here')
  // The type of an event is its subject, of which NATS before 2.10 may keep an index (.fss) as it is.
  for (const text of [destination, texts.document, playerId]) t.notOk(bytesBelow(store).includes(text), text)
  t.notOk(messages.includes('withdrawal.status_changed'))
  t.end()
})

// What docs/operations.md says of NATS_STORE_KEY: a server encrypts the stream that it has, and finds none under another
// key.

t.test('a server that is given a key encrypts the stream that it has, and keeps its events', async (t) => {
  const folder = t.testdir()
  const password = 'secret'
  const passwords = Object.fromEntries(brokerUsers.map((user) => [user, password])) as Record<BrokerUser, string>
  const stored = () => bytesBelow(join(folder, 'jetstream')).includes(destination)
  const withServer = async <T>(storeKey: string | undefined, run: (server: RunningNats) => Promise<T>) => {
    const server = await startNats({ dir: folder, passwords, ...(storeKey === undefined ? {} : { storeKey }) })
    try {
      return await run(server)
    } finally {
      await server.child.stop()
    }
  }
  const ask = async ({ url }: RunningNats, user: BrokerUser, subject: string, payload: string) => {
    const login = { NATS_URL: url, NATS_USER: user, NATS_PASSWORD: password }
    const connection = await connectNats(login, { name: user })
    try {
      return JSON.parse((await connection.request(subject, payload)).string())
    } finally {
      await connection.close()
    }
  }
  const stream = (server: RunningNats) => ask(server, streamKeeper, streamApi.info, '')

  await withServer(undefined, async (server) => {
    const configuration = streamConfiguration({ replicas: 1, bytesMax: streamBytesMin })
    await ask(server, streamKeeper, streamApi.create, JSON.stringify(configuration))
    t.match(await ask(server, 'payments', eventSubject('deposit.confirmed'), destination), { seq: 1 })
  })
  t.ok(stored(), 'it is stored in clear')

  t.match(await withServer('first', stream), { state: { messages: 1 } })
  t.notOk(stored(), 'it is encrypted')

  t.match(await withServer('second', stream), { error: { description: 'stream not found' } })
})

// biome-ignore lint/suspicious/noExplicitAny: what it reads depends on the call
const read = (operation: Operation, input: object): Promise<any> =>
  bed.team('carol').call(operation, { input: input as never })

/** Everything that reads what is sealed, and what it must find. */
async function everythingIsRead(t: Test): Promise<void> {
  const client = clientNow()
  const [shown] = (await client.get(`/players?externalId=${person.externalId}`)).body.data
  t.match(shown, { id: playerId, email: texts.email, cpf: texts.cpf, phone: texts.phone })
  const masked = await read(operations.players.showPlayer, { playerId })
  t.match(masked, { cpf: '*********35', email: 'z***@marcadora.example' })
  const full = await team(operations.players.showPlayer, { playerId, unmask: true })
  t.match(full, { email: texts.email, cpf: texts.cpf, phone: texts.phone })

  const exported = await exportOf('players', 'payments')
  t.match(exported('player')[0], { email: texts.email, cpf: texts.cpf, phone: texts.phone })
  const withdrawals = exported('withdrawal')
  for (const withdrawal of withdrawals) t.equal(withdrawal.destination, destination)
  t.notMatch(JSON.stringify([exported('player'), withdrawals]), /sealed_|_digest/, 'the export has no sealed column')
  for (const { id } of withdrawals) t.equal((await client.get(`/withdrawals/${id}`)).body.destination, destination)

  const { data: deliveries } = await read(operations.webhooks.listDeliveries, { limit: 50 })
  const carrying = deliveries.filter(({ type }: { type: string }) => type === 'withdrawal.status_changed')
  for (const { id } of carrying) {
    const { body, attemptLog } = await read(operations.webhooks.showDelivery, { id })
    t.equal(JSON.parse(body).data.destination, destination)
    for (const { responseHead } of attemptLog) t.ok(responseHead === null || responseHead.includes(destination))
  }
  const { data: messages } = await read(operations.webhooks.listSetAside, { limit: 50 })
  t.ok(messages.length > 0)
  for (const { id } of messages)
    t.match(await read(operations.webhooks.showSetAside, { id }), { payload: new RegExp(destination) })
}
async function exportOf(...names: readonly ('players' | 'payments')[]) {
  const pages = await Promise.all(names.map((name) => team(operations[name].exportPlayer, { playerId })))
  const rows = pages.flatMap((page) => page.rows as { table: string; values: Record<string, string> }[])
  return (name: string) => rows.filter(({ table }) => table === name).map(({ values }) => values)
}

t.test('what is sealed is read wherever it is needed', everythingIsRead)

/** A registration and a withdrawal, each repeated by its key, as their replies. */
const requests = [
  ['/players', { ...person, externalId: 'another' }],
  [`/players/${playerId}/withdrawals`, { amount: '10.00', currency: 'BRL', method: 'pix', destination }],
] as const
const keys = requests.map(() => randomUUID() as string)
const replies = async () => {
  const client = clientNow()
  const sent: { status: number; text: string }[] = []
  for (const [index, [path, body]] of requests.entries()) {
    const { status, bytes } = await client.post(path, body, { idempotencyKey: keys[index] ?? null })
    sent.push({ status, text: bytes.toString() })
  }
  return sent
}
let firstReplies: Awaited<ReturnType<typeof replies>>

/** As `secrets rewrap` of the team does. */
async function rewrap(): Promise<void> {
  await team(operations.gateway.rewrapSecrets, {})
  await team(operations.webhooks.rewrapWebhookSecrets, {})
  for (const name of serviceNames) await sealAll(name)
}

async function sealAll(name: ServiceName): Promise<number> {
  let total = 0
  for (let after: string | undefined; ; ) {
    const { sealed, nextCursor } = await team(operations[name].sealStoredData, after === undefined ? {} : { after })
    total += sealed
    if (nextCursor === null) return total
    after = nextCursor
  }
}

t.test('what was written before a field was marked is clear, and both forms are read', async (t) => {
  seals = false
  await restart({})
  firstReplies = await replies()
  t.same(
    firstReplies.map(({ status }) => status),
    [201, 201],
  )
  const { id } = JSON.parse(firstReplies[1]?.text ?? '')
  const cancelled = await clientNow().post(`/withdrawals/${id}/cancel`)
  t.equal(cancelled.status, 200)
  await leaveBrokenEvent(bed, { destination })
  await eventually(async () => (await places()).includes('webhooks.delivery.body'))
  const clear = sealedPlaces.map((place) => place.replace('sealed_destination', 'destination'))
  const columns = ['players.player.cpf', 'players.player.email', 'players.player.phone']
  const sealedOnly = ['players.player.sealed_identity', 'webhooks.attempt.sealed_response_head']
  t.same(await places(), [...clear.filter((place) => !sealedOnly.includes(place)), ...columns].sort())
  await everythingIsRead(t)
})

t.test('the command of the team seals what is clear, and seals everything under the newest key', async (t) => {
  seals = true
  await restart({ MASTER_KEYS: keysOf('second', 'first') })
  await everythingIsRead(t)
  const locked = `select (select count(*) from gateway.claim)
    - (select count(*) from (select from gateway.claim for update skip locked) free) as locked`
  let looks = 0
  lookForLocks = async () => {
    const [found] = (await admin.query(locked)).rows
    looks += 1
    t.equal(Number(found.locked), 0, 'a gateway that freezes here holds up no claim of the others')
  }
  await sealAll('gateway')
  lookForLocks = undefined
  t.ok(looks > 0)
  await rewrap()
  t.same(await places(), [])
  t.same(await placesUnder('first'), [])
  t.same(await placesUnder('second'), [...sealedPlaces, ...secretPlaces, ...digestPlaces].sort())
  for (const name of serviceNames) t.equal(await sealAll(name), 0, `${name}: once is enough`)
})

t.test('then the old key is needed for nothing', async (t) => {
  await restart({ MASTER_KEYS: keysOf('second') })
  await everythingIsRead(t)
  t.same(await replies(), firstReplies, 'a repeated request gets the same bytes')
  const { rows } = await admin.query('select operation_id from gateway.claim where key = any($1)', [keys])
  for (const { operation_id: abandonedOperationId } of rows) {
    const call = { scope: bed.scope(), input: { abandonedOperationId } }
    const outcomes = await Promise.all(
      [operations.players, operations.payments].map(async ({ abandonOperation }) => {
        const { outcome, reply } = await bed.rpc.call(abandonOperation, call)
        return outcome === 'replied' ? JSON.stringify(reply) : null
      }),
    )
    t.ok(
      firstReplies.some(({ text }) => outcomes.includes(text)),
      'the stored reply is the same, too',
    )
  }
})

t.test('a value that is copied to another row cannot be read there', async (t) => {
  await admin.query(
    `update players.player set sealed_identity = (select sealed_identity from players.player where id = $1)
     where external_id = 'another'`,
    [playerId],
  )
  const { status } = await clientNow().get('/players?externalId=another')
  t.equal(status, 500)
})

t.test('an anonymised player is forgotten in the sealed columns, too', async (t) => {
  const { available } = (await clientNow().get(`/players/${playerId}/wallet`)).body
  await team(operations.wallet.adjustWallet, { playerId, amount: `-${available}`, reference: 'paid-out' })
  await team(operations.players.setPlayerStatus, { playerId, status: 'encerrado' })
  await team(operations.players.anonymisePlayer, { playerId })
  const exported = await exportOf('players', 'payments')
  t.match(exported('player')[0], { cpf: '00000000000', phone: null })
  t.same([...new Set(exported('withdrawal').map((row) => row.destination))], ['anonymised'])
})
