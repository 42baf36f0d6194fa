import t from 'tap'
import {
  consumerApi,
  eventKinds,
  eventSubject,
  events,
  inboxOf,
  isSentAgain,
  operations,
  roleName,
  rpcSubject,
  rpcSubjectOfAll,
  servedSubjects,
  serviceNames,
  servicePermissions,
  streamApi,
  teamPermissions,
  teamSubject,
} from '../src/index.ts'

const { createDeposit, listAudit } = operations.payments

t.test('an operation has a subject for services, and one for each person of the team', async (t) => {
  t.equal(rpcSubject(createDeposit), 'rpc.payments.createDeposit')
  t.equal(teamSubject('alice', listAudit), 'team.alice.payments.listAudit')
  t.same(servedSubjects('payments'), { rpc: 'rpc.payments.*', all: 'rpc.payments.*.all', team: 'team.*.payments.*' })
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
    t.equal(publish.includes(consumerApi.next), consumes, service)
    t.ok(publish.includes(streamApi.info))
    for (const kind of eventKinds)
      t.equal(publish.includes(eventSubject(kind)), events[kind].emittedBy === service, `${service} ${kind}`)
  }
})

t.test('webhooks hears every public event', async (t) => {
  const unheard = eventKinds.filter(
    (kind) => events[kind].visibility === 'public' && !events[kind].consumedBy.includes('webhooks'),
  )
  t.same(unheard, [])
})

t.test('a user hears its own inbox and, when it is a service, what is asked of it', async (t) => {
  t.same(servicePermissions('wallet').subscribe, ['rpc.wallet.>', 'team.*.wallet.>', `${inboxOf('wallet')}.>`])
  t.same(teamPermissions('alice'), { publish: ['team.alice.>'], subscribe: ['_INBOX_alice.>'] })
})

t.test('the roles of PostgreSQL are named after the services', async (t) => {
  t.same([roleName('wallet'), roleName('reconciler')], ['backoffice_wallet', 'backoffice_reconciler'])
})
