import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ServiceName, serviceNames } from '@backoffice/contracts'
import type { RpcClient } from '@backoffice/rpc'
import type { Interceptor } from '@backoffice/service-runtime/testing'
import type { TeamUser, Teardown, TestBed } from '@backoffice/test-kit'
import { WorkingCopy } from '../structure/working-copy.ts'

type Seen = typeof import('./added-field.ts')['seen']
type Runtime = typeof import('@backoffice/service-runtime/testing')
type Rpc = typeof import('@backoffice/rpc')
type Program = typeof import('@backoffice/process')

const contracts = 'packages/contracts/src'
const runtime = 'packages/service-runtime/src'
const rpc = 'packages/rpc/src'
const imported = (names: string) => `import { ${names} } from '@backoffice/contracts'\n`

/** What the next release changes, by file: each text stands there once and is replaced by the other. */
const changes: Readonly<Record<string, readonly (readonly [before: string, after: string])[]>> = {
  [`${contracts}/index.ts`]: [
    ["export * from './broker.ts'", "export * from './added-field.ts'\nexport * from './broker.ts'"],
  ],
  // The table: every reply, every event, and what goes around an event.
  [`${contracts}/operation.ts`]: [
    ['import type { ErrorCode }', "import { withField } from './added-field.ts'\nimport type { ErrorCode }"],
    [
      "reply: audience === 'team' && !written.discloses ? maskable(reply) : reply,",
      "reply: withField(audience === 'team' && !written.discloses ? maskable(reply) : reply),",
    ],
  ],
  [`${contracts}/events.ts`]: [
    ['import type { ServiceName }', "import { withField } from './added-field.ts'\nimport type { ServiceName }"],
    [
      '{ readonly emittedBy: S }) => event',
      '{ readonly emittedBy: S }) => ({ ...event, data: withField(event.data) })',
    ],
  ],
  [`${contracts}/broker.ts`]: [
    ['const envelopeOf = <K', "import { withField } from './added-field.ts'\nconst envelopeOf = <K"],
    ['[kind, envelopeOf(kind)]', '[kind, withField(envelopeOf(kind))]'],
  ],
  // Every input, of an outbox command too.
  [`${rpc}/message.ts`]: [
    ['import { FormatRegistry,', `${imported('withField')}import { FormatRegistry,`],
    [
      '    schema = Type.Object(\n      { ...params.properties, ...query.properties, ...body.properties },\n      { additionalProperties: false },\n    )',
      '    schema = withField(Type.Object(\n      { ...params.properties, ...query.properties, ...body.properties },\n      { additionalProperties: false },\n    ))',
    ],
  ],
  // Whoever writes fills the field in.
  [`${runtime}/outbox/store.ts`]: [
    ['import { openMessage', `${imported('filled')}import { openMessage`],
    [
      'const { operation, scope, input } = sent',
      'const { operation, scope } = sent\n    const input = filled(inputSchema(operation), sent.input)',
    ],
    [
      'const event = { id, type: kind, apiVersion, environment, operatorId, brandId, createdAt, data } as EventMessage',
      'const event = filled(eventEnvelope(kind), { id, type: kind, apiVersion, environment, operatorId, brandId, createdAt, data })',
    ],
  ],
  [`${runtime}/commands/record.ts`]: [
    ['import { contextOf }', `${imported('filled')}import { contextOf }`],
    [
      '  if (!byTeam) return { ...kept, reply,',
      "  if (reply !== null && 'body' in reply) reply = { body: filled(operation.reply, reply.body) }\n  if (!byTeam) return { ...kept, reply,",
    ],
  ],
  [`${rpc}/server.ts`]: [
    ['import { durations,', `${imported('callerHeader, filled, seen')}import { durations,`],
    [
      'const written = JSON.stringify(body)',
      'const written = JSON.stringify(filled(operation.reply, body))\n      seen.call(operation, message.headers?.has(callerHeader) === true)',
    ],
  ],
  [`${rpc}/client.ts`]: [
    ['import { meter,', `${imported('callerHeader, filled, filledScope, seen')}import { meter,`],
    [
      '    const check = options.isStored',
      // What was seen is compared as a whole, and a correction with its signature: a new field of those takes two releases.
      "    const isDecision = 'seen' in operation.body.properties\n    if (!options.isStored && !isDecision) options = { ...options, input: filled(inputSchema(operation), options.input) }\n    const check = options.isStored",
    ],
    ['    injectTrace(headers)\n', "    injectTrace(headers)\n    headers.set(callerHeader, 'true')\n"],
    ['JSON.stringify({ scope, input })', 'JSON.stringify({ scope: filledScope(scope), input })'],
    [
      'if (!(reply instanceof Rejection)) return reply\n',
      'if (!(reply instanceof Rejection)) return (seen.reply(operation, JSON.parse(reply.toString())), reply)\n',
    ],
  ],
  [`${runtime}/messages/consumer.ts`]: [
    ['import { context, SpanKind', `${imported('seen')}import { context, SpanKind`],
    [
      '      if (this.#reaction.kinds.includes(event.type))',
      '      seen.event(event)\n      if (this.#reaction.kinds.includes(event.type))',
    ],
  ],
}

/** Services of a release that adds a field to every message. */
export interface NextRelease {
  readonly seen: Seen
  /** Starts one replica of each service of it; they end with `t`. */
  start(): Promise<Readonly<Record<ServiceName, { readonly addresses: unknown }>>>
  /** A client of it, for a person of the team or in the name of a service. */
  client(user: TeamUser | 'gateway'): Promise<RpcClient>
}

/**
 * A copy of this checkout in which a field is added to the input and the reply of each operation, to each event, and so to
 * each command of an outbox. Its services run in this process, as those of a test bed do.
 */
export async function makeNextRelease(
  t: Teardown,
  bed: Pick<TestBed<unknown>, 'environment' | 'issuer' | 'nats'>,
  intercept: (name: ServiceName) => Interceptor,
): Promise<NextRelease> {
  const copy = new WorkingCopy()
  t.teardown(() => copy.remove())
  const addedField = `${contracts}/added-field.ts`
  const files = Object.entries(changes).map(
    ([file, edits]) => [file, edited(file, edits, copy.original(file))] as const,
  )
  copy.show(new Map([...files, [addedField, readFileSync(new URL('./added-field.ts', import.meta.url), 'utf8')]]))

  const load = (path: string) => import(pathToFileURL(join(copy.folder, path)).href)
  const { RpcClient }: Rpc = await load(`${rpc}/index.ts`)
  const { startService }: Runtime = await load(`${runtime}/testing.ts`)
  const { loadConfig }: Program = await load('packages/process/src/index.ts')
  const { seen }: { seen: Seen } = await load(addedField)

  async function startOne(name: ServiceName) {
    const service = (await load(`services/${name}/src/service.ts`))[name]
    const running = await startService(service, loadConfig(service.configuration, bed.environment(name)) as never, {
      intercept: intercept(name),
    })
    t.teardown(() => running.drain())
    return running
  }

  return {
    seen,
    async start() {
      const started = []
      for (const name of serviceNames) started.push([name, await startOne(name)])
      return Object.fromEntries(started)
    },
    client: async (user) =>
      user === 'gateway'
        ? new RpcClient(await bed.nats(user))
        : new RpcClient(await bed.nats('console'), bed.issuer.signer(user)),
  }
}

function edited(file: string, edits: (typeof changes)[string], original: string | undefined): string {
  let text = original ?? ''
  for (const [before, after] of edits) {
    const count = text.split(before).length - 1
    if (count !== 1)
      throw new Error(`${file} has ${count} times ${before}: the next release must be changed in another way`)
    text = text.replace(before, () => after)
  }
  return text
}
