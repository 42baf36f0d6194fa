import t from 'tap'
import {
  consumerApi,
  defined,
  eventConsumers,
  eventKinds,
  eventSubject,
  events,
  isReplyInbox,
  isSentAgain,
  operations,
  rpcSubject,
  rpcSubjectOfAll,
  serviceNames,
  servicePermissions,
} from '../src/index.ts'

const { createDeposit } = operations.payments

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

t.test('a request asks a service for its reply in an inbox for that service, or it is none of ours', async (t) => {
  t.ok(isReplyInbox('_INBOX_gateway.payments.abc.1', 'payments'))
  for (const reply of [undefined, '', '_INBOX.payments.abc', '_INBOX_gateway.wallet.abc', 'team.payments.listAudit'])
    t.notOk(isReplyInbox(reply, 'payments'), `${reply}`)
})

t.test('webhooks hears every public event but its own', async (t) => {
  const unheard = eventKinds.filter(
    (kind) => events[kind].visibility === 'public' && !events[kind].consumedBy.includes('webhooks'),
  )
  t.same(unheard, ['webhook.test'])
})

t.test('what is undefined is left out; null, zero and false stay', async (t) => {
  t.strictSame(defined({ a: undefined, b: null, c: 0, d: false, e: '' }), { b: null, c: 0, d: false, e: '' })
  t.notOk('a' in defined({ a: undefined }))
})
