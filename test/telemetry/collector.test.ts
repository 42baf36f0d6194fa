import t from 'tap'
import { parse } from 'yaml'
import { readText } from './files.ts'

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

t.test('every component that a pipeline names is declared, and every declared one is used', async (t) => {
  for (const kind of ['receivers', 'processors', 'exporters'] as const) {
    const used = new Set(pipelines.flatMap(([, pipeline]) => pipeline[kind]))
    t.same([...used].sort(), Object.keys(collector[kind]).sort(), kind)
  }
  t.same([...collector.service.extensions].sort(), Object.keys(collector.extensions).sort())
  for (const [name] of pipelines) t.match(name, /^(traces|metrics|logs)(\/\w+)?$/)
})

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

t.test('traces with errors and slow ones are kept, and a share of the rest', async (t) => {
  const { policies } = collector.processors.tail_sampling as { policies: { type: string; [key: string]: unknown }[] }
  t.same(
    policies.map(({ type }) => type),
    ['status_code', 'latency', 'probabilistic'],
  )
  t.match(policies[0], { status_code: { status_codes: ['ERROR'] } })
})

t.test(
  'ports are those that the rest of the deployment calls, and the backend comes from the environment',
  async (t) => {
    t.match(collector.receivers, {
      otlp: { protocols: { grpc: { endpoint: '0.0.0.0:4317' }, http: { endpoint: '0.0.0.0:4318' } } },
    })
    t.match(collector.exporters, {
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the collector replaces them
      otlp_grpc: { endpoint: '${env:OTLP_BACKEND}', tls: { ca_file: '${env:OTLP_BACKEND_CA_FILE}' } },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the collector replaces them
    })
    t.match(collector.extensions, { health_check: { endpoint: '0.0.0.0:13133' } })
    t.match(collector.service, {
      telemetry: { metrics: { readers: [{ pull: { exporter: { prometheus: { host: '0.0.0.0', port: 8888 } } } }] } },
    })
  },
)
