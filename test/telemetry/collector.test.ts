import t from 'tap'
import { parse } from 'yaml'
import { readText } from './rules.ts'

interface Collector {
  readonly extensions: Readonly<Record<string, unknown>>
  readonly receivers: Readonly<Record<string, unknown>>
  readonly processors: Readonly<Record<string, unknown>>
  readonly exporters: Readonly<Record<string, unknown>>
  readonly service: {
    readonly extensions: readonly string[]
    readonly pipelines: Readonly<
      Record<string, { readonly receivers: string[]; readonly processors: string[]; readonly exporters: string[] }>
    >
  }
}

const text = readText('collector.yaml')
const collector = parse(text) as Collector
const pipelines = Object.entries(collector.service.pipelines)

t.test('the limit of memory comes first, batches last, and nothing personal reaches what decides', async (t) => {
  for (const [name, { processors }] of pipelines) {
    t.equal(processors[0], 'memory_limiter', name)
    t.equal(processors.at(-1), 'batch', name)
    t.equal(processors[1], 'attributes/personal', name)
  }
  const traces = collector.service.pipelines.traces?.processors ?? []
  t.ok(traces.indexOf('transform/personal') < traces.indexOf('tail_sampling'))
})

const words = (text: string) => text.trim().split(/\s+/)

t.test('what may be personal or secret is dropped, and what tells a request from another is kept', async (t) => {
  const { actions } = collector.processors['attributes/personal'] as {
    actions: { action: string; pattern: string }[]
  }
  t.ok(actions.every(({ action }) => action === 'delete'))
  const dropped = (key: string) => actions.some(({ pattern }) => new RegExp(pattern).test(key))
  const personal = words(`
    url.query url.full url.path http.url http.target http.request.header.authorization
    http.request.header.x_signature http.response.header.set_cookie client.address http.client_ip
    network.peer.address net.peer.ip net.sock.peer.addr user_agent.original enduser.id db.statement db.user
    db.query.parameter.0 db.postgresql.values messaging.message.body.text`)
  for (const key of personal) t.ok(dropped(key), key)
  const kept = words(`
    http.route http.request.method http.response.status_code url.scheme server.address db.query.text
    db.system.name db.operation.name messaging.destination.name messaging.message.id service.name error.type
    request.id operation.id`)
  for (const key of kept) t.notOk(dropped(key), key)
})
