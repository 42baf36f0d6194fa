import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  allOperations,
  type BrokerUser,
  brokerUsers,
  headerNames,
  inboxOf,
  rpcSubject,
  type ServiceName,
} from '@backoffice/contracts'
import { repliesOver } from '@backoffice/rpc'
import { makeCertificate, temporaryFolder } from '@backoffice/test-kit'
import { connect, errors, headers, type NatsConnection } from '@nats-io/transport-node'
import t, { type Test } from 'tap'
import type { Child } from '../src/child.ts'
import { natsServerBinary, renderConfiguration, startNats } from '../src/nats.ts'
import { OnDemand } from '../src/on-demand.ts'

const passwords = Object.fromEntries(brokerUsers.map((name) => [name, `p-${name}`])) as Record<BrokerUser, string>
const nats = await startNats({ dir: temporaryFolder(t), passwords })
t.teardown(() => nats.child.stop())

/** Why the server lets nobody subscribe so; null where it does. */
async function refusalOf(connection: NatsConnection, subject: string, queue?: string): Promise<Error | null> {
  return new Promise((resolve) => {
    const callback = (error: Error | null) => resolve(error)
    const subscription = connection.subscribe(subject, queue === undefined ? { callback } : { callback, queue })
    connection.flush().then(() => {
      subscription.unsubscribe()
      resolve(null)
    })
  })
}

async function connectAs(t: Test, user: string): Promise<NatsConnection> {
  const connection = await connect({ servers: nats.url, user, pass: `p-${user}`, inboxPrefix: inboxOf(user) })
  t.teardown(() => connection.close())
  return connection
}

/** Answers everything that is asked of a service. */
async function answerAs(t: Test, service: ServiceName): Promise<void> {
  const connection = await connectAs(t, service)
  for (const subject of [`rpc.${service}.*`, `team.${service}.*`]) {
    connection.subscribe(subject, {
      queue: service,
      callback: (_error, message) => {
        message.respond(message.subject)
      },
    })
  }
  await connection.flush()
}

const timeoutMs = 2_000

function ask(connection: NatsConnection, subject: string): Promise<string> {
  const sent = headers()
  sent.set(headerNames.timeoutMs, String(timeoutMs))
  const service = subject.split('.')[1] as ServiceName
  return repliesOver(connection)
    .request({ service, subject, payload: '', headers: sent, timeoutMs })
    .then((reply) => reply.string())
}

/** What a user is answered, and what the server lets it not even ask. */
const asked: readonly (readonly [rule: string, user: string, may: string, others: Readonly<Record<string, string>>])[] =
  [
    [
      'the gateway cannot touch money: internal operations are closed to it',
      'gateway',
      'rpc.players.registerPlayer',
      { gateway: 'rpc.wallet.creditAccount', wallet: 'events.deposit.confirmed' },
    ],
    [
      "the console calls the team's operations, and neither those of services nor does a service call the team's",
      'console',
      'team.payments.listAudit',
      { console: 'rpc.wallet.creditAccount', gateway: 'team.payments.listAudit', webhooks: 'team.payments.listAudit' },
    ],
  ]
for (const [rule, user, may, others] of asked)
  t.test(rule, async (t) => {
    await answerAs(t, may.split('.')[1] as ServiceName)
    t.equal(await ask(await connectAs(t, user), may), may)
    for (const [other, subject] of Object.entries(others))
      await t.rejects(ask(await connectAs(t, other), subject), /Permissions Violation/, `${other}: ${subject}`)
  })

t.test('people have no user here, and a wrong password is refused', async (t) => {
  for (const [user, pass] of [
    ['alice', 'p-alice'],
    ['gateway', 'guess'],
  ] as const)
    await t.rejects(connect({ servers: nats.url, user, pass, reconnect: false }), /Authorization/i)
})

t.test('nobody hears the replies, the requests or the events of another', async (t) => {
  const subjects = [inboxOf('gateway'), 'rpc.payments', 'events', 'team', '_INBOX'].map((start) => `${start}.>`)
  for (const user of ['wallet', 'console']) {
    const connection = await connectAs(t, user)
    for (const subject of [...subjects, '>'])
      t.match((await refusalOf(connection, subject))?.message, /Permissions Violation/, `${user} on ${subject}`)
  }
})

t.test('who hears a call between services takes it: with the password of a service, in its queue alone', async (t) => {
  const internal = allOperations.filter(({ audience }) => audience !== 'team' && audience !== 'public')
  t.ok(internal.length > 40)
  for (const [service, operations] of Map.groupBy(internal, (operation) => operation.service)) {
    const connection = await connectAs(t, service)
    const subjects = [...operations.map(rpcSubject), `rpc.${service}.*`, `rpc.${service}.>`]
    for (const subject of subjects)
      for (const queue of [undefined, 'other'])
        t.match((await refusalOf(connection, subject, queue))?.message, /Permissions Violation/, `${subject} ${queue}`)
    for (const subject of operations.map(rpcSubject))
      t.equal(await refusalOf(connection, subject, service), null, `${subject} in the queue`)
  }
})

t.test('a service replies only to those who may call it, and in no name but its own', async (t) => {
  const replies = {
    wallet: { may: ['payments.wallet', 'console.wallet'], mayNot: ['payments.players', 'webhooks.wallet', 'payments'] },
    webhooks: { may: ['gateway.webhooks'], mayNot: ['gateway.payments', 'payments.webhooks', 'gateway'] },
  }
  for (const [service, { may, mayNot }] of Object.entries(replies)) {
    const connection = await connectAs(t, service)
    const refused: string[] = []
    // It ends with the connection.
    void (async () => {
      for await (const status of connection.status())
        if (status.type === 'error' && status.error instanceof errors.PermissionViolationError)
          refused.push(status.error.subject)
    })()
    const subjects = (inboxes: readonly string[]) => inboxes.map((inbox) => `_INBOX_${inbox}.x.1`)
    for (const subject of subjects([...may, ...mayNot])) connection.publish(subject)
    // Twice: what the server says before its first answer has been taken when it answers again.
    await connection.flush()
    await connection.flush()
    t.same(refused, subjects(mayNot), service)
  }
})

t.test('a call in the moment in which a service leaves is answered by its next process', async (t) => {
  let started = 0
  /** Serves for a moment, then leaves as an idle service does: it serves no more, and ends a little later. */
  const start = async (): Promise<Child> => {
    started += 1
    const connection = await connectAs(t, 'reconciler')
    connection.subscribe('team.reconciler.*', {
      queue: 'reconciler',
      callback: (_error, call) => void call.respond(''),
    })
    await connection.flush()
    const exited = wait(20)
      .then(() => connection.drain())
      .then(() => wait(50))
      .then(() => ({ code: 0, signal: null }))
    return { pid: 1, exited, stop: () => exited } as unknown as Child
  }
  const quiet = { onRunning: () => {}, onEnded: () => {}, onTrouble: (message: string) => t.fail(message) }
  const onDemand = await OnDemand.start({
    name: 'reconciler',
    natsUrl: nats.url,
    passwords,
    start,
    everyMs: 0,
    ...quiet,
  })
  const team = await connectAs(t, 'console')
  while (started < 4) await ask(team, 'team.reconciler.listAudit')
  await onDemand.stop()
})

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../../deploy/nats', import.meta.url))
const variables = Object.fromEntries(brokerUsers.map((user) => [`NATS_PASSWORD_${user.toUpperCase()}`, 'secret']))

t.test('nats-server understands the main file of every environment', async (t) => {
  const server = await natsServerBinary()
  const version = (await run(server, ['--version'])).stdout
  const dir = t.testdir({ 'nats-store': { 'key.conf': 'key: "secret"' } })
  cpSync(folder, join(dir, 'nats'), { recursive: true })
  const { certFile, keyFile } = await makeCertificate(dir, 'nats')
  const files: Readonly<Record<string, string>> = { 'tls.crt': certFile, 'ca.crt': certFile, 'tls.key': keyFile }
  for (const file of ['single.conf', 'cluster.conf']) {
    const path = join(dir, 'nats', file)
    let text = readFileSync(path, 'utf8').replace(
      /\/etc\/(?:nats-tls|authority)\/([a-z.]+)/g,
      (_, name) => files[name] ?? name,
    )
    t.match(text, /^ {2}sync_interval: always$/m, 'an acknowledged event is on disk')
    if (file === 'cluster.conf')
      t.match(text, /^tls \{[^}]*^ {2}verify_and_map: true$/m, 'a password opens nothing without its certificate')
    // The one setting that Debian's 2.9 does not know.
    if (version.includes('v2.9.')) text = text.replace(/^\s*sync_interval: always$/m, '')
    writeFileSync(path, text)
    const env = { ...process.env, ...variables, NATS_SERVER_NAME: 'nats-0' }
    const { stderr } = await run(server, ['-t', '-c', path], { env })
    t.match(stderr, /is valid/, file)
  }
})

t.test('npm start has every acknowledged event on disk, where the server can do that', async (t) => {
  const options = { dir: '/tmp/x', passwords: {} as never }
  for (const [version, synced] of [
    ['nats-server: v2.9.10', false],
    ['nats-server: v2.10.0', true],
    ['nats-server: v2.12.1', true],
    ['nats-server: v3.0.0-preview', true],
    ['nats-server: unknown', false],
  ] as const)
    t.equal(renderConfiguration(options, { port: 4222, version }).includes('sync_interval: always'), synced, version)
})
