import t from 'tap'
import {
  consumedSubject,
  consumerApi,
  defined,
  eventConsumers,
  eventKinds,
  eventSubject,
  events,
  inboxOf,
  isReplyInbox,
  isSentAgain,
  operations,
  renderPermissionsFile,
  roleName,
  rpcSubject,
  rpcSubjectOfAll,
  type ServiceName,
  servedSubjects,
  serviceNames,
  servicePermissions,
  streamApi,
  streamKeeperPermissions,
  teamConsole,
  teamConsolePermissions,
  teamSubject,
} from '../src/index.ts'

const { createDeposit, listAudit } = operations.payments

t.test('an operation has a subject for services, and one for the team', async (t) => {
  t.equal(rpcSubject(createDeposit), 'rpc.payments.createDeposit')
  t.equal(teamSubject(listAudit), 'team.payments.listAudit')
  t.same(servedSubjects('payments'), { rpc: 'rpc.payments.*', all: 'rpc.payments.*.all', team: 'team.payments.*' })
})

t.test('a service may send only what the table lets it call, and never to itself', async (t) => {
  for (const service of serviceNames) {
    const sends = servicePermissions(service).publish.filter((subject) => subject.startsWith('rpc.'))
    t.equal(new Set(sends).size, sends.length, service)
    t.notOk(sends.some((subject) => subject.startsWith(`rpc.${service}.`)))
  }
  const gateway = servicePermissions('gateway').publish
  t.ok(gateway.includes(rpcSubject(createDeposit)))
  t.notOk(gateway.includes(rpcSubject(operations.wallet.creditAccount)), 'the gateway cannot touch money')
  t.ok(gateway.includes(rpcSubject(operations.wallet.abandonOperation)))
  t.ok(servicePermissions('payments').publish.includes(rpcSubject(operations.wallet.creditAccount)))
})

t.test('what may be sent again may be sent to all replicas, and nothing else may', async (t) => {
  const { provisionWebhook, testWebhook, setWebhookUrl } = operations.webhooks
  const gateway = servicePermissions('gateway').publish
  for (const once of [provisionWebhook, testWebhook, operations.players.openGameSession]) {
    t.notOk(isSentAgain(once), once.id)
    t.ok(gateway.includes(rpcSubject(once)))
    t.notOk(gateway.includes(rpcSubjectOfAll(once)))
  }
  t.ok(gateway.includes(rpcSubjectOfAll(createDeposit)))
  t.notOk(isSentAgain(setWebhookUrl), 'no operation of the team')
})

t.test('who consumes events follows from the event table', async (t) => {
  for (const service of serviceNames) {
    const consumes = eventKinds.some((kind) => events[kind].consumedBy.includes(service))
    const { publish } = servicePermissions(service)
    const consumers = eventConsumers.filter((consumer) => consumer.service === service)
    t.equal(consumers.length > 0, consumes, service)
    t.equal(
      publish.some((subject) => subject.startsWith('$JS.API.CONSUMER.MSG.NEXT.')),
      consumes,
      service,
    )
    for (const consumer of consumers) t.ok(publish.includes(consumerApi(consumer).next))
    for (const kind of eventKinds) {
      const { emittedBy, consumedBy } = events[kind]
      const publishes = emittedBy === service && consumedBy.length > 0
      t.equal(publish.includes(eventSubject(kind)), publishes, `${service} ${kind}`)
    }
  }
})

t.test('of JetStream a service may ask about the stream and its own consumer, and change nothing', async (t) => {
  const changes = /\.(CREATE|UPDATE|DELETE|PURGE|RESTORE|PAUSE)\./
  for (const service of serviceNames) {
    const { publish } = servicePermissions(service)
    t.ok(publish.includes(streamApi.info))
    t.same(
      publish.filter((subject) => subject.startsWith('$JS.') && changes.test(subject)),
      [],
      service,
    )
  }
  t.notOk(streamKeeperPermissions().publish.some((subject) => !subject.startsWith('$JS.API.')))
})

t.test('a consumer hears one kind by its subject, and several kinds by the subject of all', async (t) => {
  t.equal(consumedSubject({ service: 'webhooks', reaction: 'any' }), 'events.>')
})

t.test('a request asks a service for its reply in an inbox for that service, or it is none of ours', async (t) => {
  t.ok(isReplyInbox('_INBOX_gateway.payments.abc.1', 'payments'))
  for (const reply of [undefined, '', '_INBOX.payments.abc', '_INBOX_gateway.wallet.abc', 'team.payments.listAudit'])
    t.notOk(isReplyInbox(reply, 'payments'), `${reply}`)
})

t.test(
  'a service may reply to those whom the table lets call it and to the console, each where only it may',
  async (t) => {
    const repliesOf = (service: ServiceName) =>
      servicePermissions(service).publish.filter((subject) => subject.startsWith('_INBOX'))
    t.same(repliesOf('webhooks'), ['_INBOX_gateway.webhooks.>', '_INBOX_console.webhooks.>'])
    const callers = ['gateway', 'players', 'payments', 'console']
    t.same(
      repliesOf('wallet'),
      callers.map((caller) => `_INBOX_${caller}.wallet.>`),
    )
    // nats-server before 2.11 goes through all replies that it remembers for each message that it delivers.
    t.notMatch(renderPermissionsFile(), 'allow_responses')
  },
)

t.test('webhooks hears every public event but its own', async (t) => {
  const unheard = eventKinds.filter(
    (kind) => events[kind].visibility === 'public' && !events[kind].consumedBy.includes('webhooks'),
  )
  t.same(unheard, ['webhook.test'])
})

t.test('a user hears its own inbox and, when it is a service, what is asked of it', async (t) => {
  t.same(servicePermissions('wallet').subscribe, ['rpc.wallet.>', 'team.wallet.*', `${inboxOf('wallet')}.>`])
})

t.test('the console calls what the team may call, and nothing else', async (t) => {
  const { publish, subscribe } = teamConsolePermissions()
  t.same(
    publish,
    serviceNames.map((service) => `team.${service}.*`),
  )
  t.same(subscribe, [`${inboxOf(teamConsole)}.>`])
})

t.test('the roles of PostgreSQL are named after the services', async (t) => {
  t.same([roleName('wallet'), roleName('games')], ['backoffice_wallet', 'backoffice_games'])
})

t.test('what is undefined is left out; null, zero and false stay', async (t) => {
  t.strictSame(defined({ a: undefined, b: null, c: 0, d: false, e: '' }), { b: null, c: 0, d: false, e: '' })
  t.notOk('a' in defined({ a: undefined }))
})
