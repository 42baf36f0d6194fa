import {
  brokerUsers,
  inboxOf,
  operations,
  permissionsOf,
  rpcSubject,
  serviceNames,
  streamKeeper,
} from '@backoffice/contracts'
import { makeStream } from '@backoffice/migrator/stream'
import { createLogger, limitsMs } from '@backoffice/process'
import { eventually, temporaryFolder } from '@backoffice/test-kit'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import t from 'tap'
import { startNats } from '../src/nats.ts'

const passwords = Object.fromEntries(brokerUsers.map((user) => [user, `p-${user}`])) as never
const nats = await startNats({ dir: temporaryFolder(t), passwords })
t.teardown(() => nats.child.stop())

const users = [...brokerUsers]
const connections = new Map<string, NatsConnection>()
for (const user of users) {
  const connection = await connect({ servers: nats.url, user, pass: `p-${user}`, inboxPrefix: inboxOf(user) })
  t.teardown(() => connection.close())
  connections.set(user, connection)
}
const of = (user: string) => connections.get(user) as NatsConnection

const consumer = 'webhooks-schedule-delivery'

/** Every subject on which nat-server's JetStream takes requests, in any version from 2.9 to 2.15, and some of its own. */
const subjects = [
  '$JS.API.INFO',
  '$JS.API.ACCOUNT.PURGE.$G',
  '$JS.API.ACCOUNT.STREAM.MOVE.$G.EVENTS',
  '$JS.API.ACCOUNT.STREAM.CANCEL_MOVE.$G.EVENTS',
  '$JS.API.META.LEADER.STEPDOWN',
  '$JS.API.SERVER.REMOVE',
  '$JS.API.SERVER.STREAM.MOVE.$G.EVENTS',
  '$JS.API.STREAM.NAMES',
  '$JS.API.STREAM.LIST',
  ...['INFO', 'CREATE', 'UPDATE', 'DELETE', 'PURGE', 'SNAPSHOT', 'RESTORE', 'MSG.GET', 'MSG.DELETE'].flatMap((verb) => [
    `$JS.API.STREAM.${verb}.EVENTS`,
    `$JS.API.STREAM.${verb}.OTHER`,
  ]),
  '$JS.API.STREAM.PEER.REMOVE.EVENTS',
  '$JS.API.STREAM.LEADER.STEPDOWN.EVENTS',
  ...['CREATE', 'INFO', 'DELETE'].map((verb) => `$JS.API.STREAM.TEMPLATE.${verb}.any`),
  '$JS.API.STREAM.TEMPLATE.NAMES',
  '$JS.API.DIRECT.GET.EVENTS',
  '$JS.API.DIRECT.GET.EVENTS.events.deposit.confirmed',
  '$JS.API.CONSUMER.CREATE.EVENTS',
  '$JS.API.CONSUMER.NAMES.EVENTS',
  '$JS.API.CONSUMER.LIST.EVENTS',
  ...[consumer, 'another'].flatMap((name) => [
    `$JS.API.CONSUMER.CREATE.EVENTS.${name}`,
    `$JS.API.CONSUMER.CREATE.EVENTS.${name}.events.>`,
    `$JS.API.CONSUMER.CREATE.EVENTS.${name}.events.deposit.confirmed`,
    `$JS.API.CONSUMER.DURABLE.CREATE.EVENTS.${name}`,
    ...['INFO', 'DELETE', 'PAUSE', 'RESET', 'UNPIN', 'LEADER.STEPDOWN', 'MSG.NEXT'].map(
      (verb) => `$JS.API.CONSUMER.${verb}.EVENTS.${name}`,
    ),
    `$JS.ACK.EVENTS.${name}.1.1.1.1.0`,
  ]),
  `$JS.API.CONSUMER.INFO.OTHER.${consumer}`,
  `$JS.API.CONSUMER.MSG.NEXT.OTHER.${consumer}`,
  '$JS.SNAPSHOT.ACK.EVENTS.any',
  '$JS.SNAPSHOT.RESTORE.EVENTS.any',
  '$JS.FC.EVENTS.any.any',
  '$JSC.CI.any',
  '$SYS.REQ.SERVER.PING',
  '$SYS.REQ.ACCOUNT.PING.CONNZ',
  '$KV.any.key',
  '$O.any.C.chunk',
]

/** What each user may do with JetStream, and nothing else. */
const permitted: Readonly<Record<string, readonly string[]>> = {
  gateway: [],
  players: [],
  wallet: [],
  payments: [],
  reconciler: [],
  webhooks: [
    `$JS.API.CONSUMER.INFO.EVENTS.${consumer}`,
    `$JS.API.CONSUMER.MSG.NEXT.EVENTS.${consumer}`,
    `$JS.ACK.EVENTS.${consumer}.1.1.1.1.0`,
  ],
  [streamKeeper]: [
    '$JS.API.STREAM.INFO.EVENTS',
    '$JS.API.STREAM.CREATE.EVENTS',
    '$JS.API.STREAM.UPDATE.EVENTS',
    `$JS.API.CONSUMER.CREATE.EVENTS.${consumer}.events.>`,
    `$JS.API.CONSUMER.CREATE.EVENTS.${consumer}.events.deposit.confirmed`,
    `$JS.API.CONSUMER.INFO.EVENTS.${consumer}`,
  ],
  console: [],
  providers: [],
}

/** Sends something to each subject. @returns the subjects that the server did not refuse */
async function notRefused(user: string, tried: readonly string[]): Promise<readonly string[]> {
  const connection = await connect({ servers: nats.url, user, pass: `p-${user}`, inboxPrefix: inboxOf(user) })
  const refused = new Set<string>()
  // The server answers in order: once it has refused the last one, it has refused all that it refuses.
  const last = 'nobody.may.publish.this'
  const heard = (async () => {
    for await (const status of connection.status()) {
      if (status.type !== 'error') continue
      const [, subject = ''] = /Publish to "([^"]+)"/.exec(String(status.error)) ?? []
      refused.add(subject)
      if (subject === last) return
    }
  })()
  // No JSON: what is permitted is refused as a request.
  for (const subject of [...tried, last]) connection.publish(subject, 'no request')
  await heard
  await connection.close()
  return tried.filter((subject) => !refused.has(subject))
}

const make = () => makeStream(of(streamKeeper), { replicas: 1, bytesMax: 64 * 1024 ** 2 }, createLogger('t', 'silent'))

async function ask(user: string, subject: string, request: object) {
  const reply = await of(user).request(subject, JSON.stringify(request), { timeout: limitsMs.jetStream })
  return reply.json<{ error?: { code: number }; config?: object }>()
}

const streamNow = () => ask(streamKeeper, '$JS.API.STREAM.INFO.EVENTS', {})

t.test(
  'while there is no stream, neither a service nor the console can make one or anything else in JetStream',
  async (t) => {
    for (const user of users) t.same(await notRefused(user, subjects), permitted[user], user)
    t.equal((await streamNow()).error?.code, 404, 'and there is none')
  },
)

t.test('once the stream is there, nobody but its keeper changes it or its consumer', async (t) => {
  await make()
  const before = await streamNow()
  for (const user of users) t.same(await notRefused(user, subjects), permitted[user], user)
  t.same((await streamNow()).config, before.config)
})

t.test('the keeper of the stream says and hears nothing else', async (t) => {
  const others = [
    'rpc.wallet.creditAccount',
    'team.wallet.adjustWallet',
    'events.deposit.confirmed',
    '_INBOX_console.x',
  ]
  t.same(await notRefused(streamKeeper, others), [])
  for (const subject of ['>', 'events.>', 'rpc.>', 'team.>', '_INBOX_gateway.>']) {
    const refused = await new Promise((resolve) => {
      of(streamKeeper).subscribe(subject, { callback: (error) => resolve(error) })
      of(streamKeeper)
        .flush()
        .then(() => resolve(null))
    })
    t.match(refused, /Permissions Violation/, subject)
  }
})

/** Behind a subject that a user hears in a queue alone stands the queue. */
const concrete = (allowed: readonly string[]) =>
  allowed.map((one) =>
    one
      .replace(/ .*/, '')
      // As a consumer writes them: others reach nobody.
      .replace(/(?<=^\$JS\.ACK\..*)>$/, '1.1.1.1.0')
      .replaceAll(/[*>]/g, 'x'),
  )

/** Each user's requests that JetStream answers to whatever subject they name: its own messages, with rights of its own. */
const answeredAnywhere: Readonly<Record<string, readonly string[]>> = {
  // Who may write to the stream may also have it written there that this was done.
  players: ['events.kyc.status_changed', 'events.player.status_changed', 'events.player.limit_changed'],
  wallet: ['events.play.day_closed'],
  payments: ['events.deposit.confirmed', 'events.withdrawal.status_changed'],
  webhooks: [
    `$JS.API.CONSUMER.INFO.EVENTS.${consumer}`,
    `$JS.API.CONSUMER.MSG.NEXT.EVENTS.${consumer}`,
    `$JS.ACK.EVENTS.${consumer}.1.1.1.1.0`,
  ],
  [streamKeeper]: concrete(permissionsOf(streamKeeper).publish).filter((subject) => subject.startsWith('$JS.')),
}

/** A pull that does not wait for messages to come: an answer of it would be taken for one of what is asked after it. */
const noWait = JSON.stringify({ batch: 1, no_wait: true })

t.test('whoever names another reply subject than an inbox of its own makes nobody speak there', async (t) => {
  const sent = 'sent by the user itself'
  const heard: string[] = []
  for (const listener of users) {
    for (const allowed of permissionsOf(listener).subscribe) {
      const [subject = '', queue] = allowed.split(' ')
      of(listener).subscribe(subject, {
        ...(queue === undefined ? {} : { queue }),
        callback: (error, message) => {
          if (error === null && (message.string() !== sent || /^\$JS\.ACK\..*\.\d+$/.test(message.reply ?? '')))
            heard.push(message.subject)
        },
      })
    }
    await of(listener).flush()
  }
  const served = serviceNames.flatMap((service) => Object.values(operations[service]).map(rpcSubject))
  const everywhere = users.map(permissionsOf).flatMap(({ publish, subscribe }) => [...publish, ...subscribe])
  const subjectsOfAll = [...new Set([...concrete(everywhere), ...served])]
  const stored = async () => ((await streamNow()) as unknown as { state: { messages: number } }).state.messages

  for (const user of users) {
    const replies = subjectsOfAll.filter((subject) => !subject.startsWith(`${inboxOf(user)}.`))
    const spoke: string[] = []
    for (const subject of concrete(permissionsOf(user).publish)) {
      const isRequest = subject.startsWith('$JS')
      const before = await stored()
      heard.length = 0
      const isPull = subject.includes('.MSG.NEXT.')
      const asked = isPull ? noWait : isRequest ? '' : sent
      for (const reply of replies) of(user).publish(subject, asked, { reply })
      const isEvent = subject.startsWith('events.')
      // So many messages are out that the last pull may wait: who may pull is heard.
      if (isPull) await eventually(() => heard.length > 0)
      // JetStream answers in order, each request and each event that it stores: this comes after what it had to say before.
      else if (isRequest || isEvent) await of(user).request(subject, asked, { timeout: 120_000 })
      // What was said before reaches each listener by a connection of its own.
      await Promise.all(users.map((listener) => of(listener).flush()))
      const own = isEvent ? replies.length + 1 : 0
      if ((await stored()) - before > own || heard.some((at) => replies.includes(at))) spoke.push(subject)
    }
    t.same(spoke, answeredAnywhere[user] ?? [], user)
  }
})
