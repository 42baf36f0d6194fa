import { readFileSync } from 'node:fs'
import { apiVersion, httpOperations, type Operation, type Tag } from '@backoffice/contracts'

type Json = Record<string, unknown>

/** One request of the collection: an operation, what it changes of the example, and what later requests need of its reply. */
interface Step {
  readonly operationId: string
  readonly name?: string
  /** Replaces fields of the operation's example body. `{{…}}` are Postman's variables. */
  readonly body?: Json
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Collection variable ← property of the reply, as a dotted path. */
  readonly save?: Readonly<Record<string, string>>
  /** Statuses that are right besides the operation's own. */
  readonly alsoStatus?: readonly number[]
}

const unique = '{{$timestamp}}-{{$randomInt}}'

interface Folder {
  readonly tag: Tag
  /** What must come in an order, and what is particular of an operation. The others of the tag follow. */
  readonly steps?: readonly (Step | string)[]
}

/** In the order in which an integration meets them; run from top to bottom in the sandbox it is green. */
const folders: readonly Folder[] = [
  { tag: 'Documents' },
  { tag: 'Account' },
  {
    tag: 'Players',
    steps: [
      {
        operationId: 'registerPlayer',
        body: { externalId: `user-${unique}` },
        save: { playerId: 'id', externalId: 'externalId' },
      },
      { operationId: 'findPlayers', query: { externalId: '{{externalId}}' } },
    ],
  },
  { tag: 'KYC', steps: ['submitKyc', 'decideKycInSandbox', 'getKyc'] },
  {
    tag: 'Deposits',
    steps: [
      { operationId: 'createDeposit', body: { externalReference: `pay-${unique}` }, save: { depositId: 'id' } },
      'confirmDeposit',
      {
        operationId: 'createDeposit',
        name: 'Create a second deposit, to fail',
        body: { externalReference: `pay-${unique}` },
        save: { depositId: 'id' },
      },
      'failDeposit',
    ],
  },
  { tag: 'Wallet' },
  {
    tag: 'Games',
    steps: [
      { operationId: 'listGames', save: { gameId: 'data.0.id' } },
      { operationId: 'openGameSession', body: { gameId: '{{gameId}}' } },
    ],
  },
  {
    tag: 'Withdrawals',
    steps: [
      { operationId: 'requestWithdrawal', save: { withdrawalId: 'id' } },
      'getWithdrawal',
      'cancelWithdrawal',
      {
        operationId: 'requestWithdrawal',
        name: 'Request a second withdrawal, to be paid',
        save: { withdrawalId: 'id' },
      },
      { operationId: 'decideWithdrawalInSandbox', name: 'Approve the withdrawal', body: { decision: 'approve' } },
      { operationId: 'decideWithdrawalInSandbox', name: 'Pay the withdrawal', body: { decision: 'pay' } },
    ],
  },
  // 409 WEBHOOK_NOT_CONFIGURED is the right answer until the team has set your URL.
  { tag: 'Webhooks', steps: [{ operationId: 'testWebhook', alsoStatus: [409] }] },
]

const pathVariables: Readonly<Record<string, string>> = {
  playerId: '{{playerId}}',
  depositId: '{{depositId}}',
  withdrawalId: '{{withdrawalId}}',
}

/** Below the comment that says what it does. */
const signingScript = readFileSync(new URL('../assets/postman-signing.txt', import.meta.url), 'utf8')
  .replace(/^(\/\/.*\n)+/, '')
  .trimEnd()

/** The Postman v2.1 collection with all operations and a pre-request signing script. */
export function postmanCollection({ baseUrl }: { readonly baseUrl: string }): Json {
  const byId = new Map(httpOperations.map((operation) => [operation.id, operation]))
  return {
    info: {
      name: `Operator Gaming Back-Office API ${apiVersion}`,
      description:
        'Set the variables operatorKey and operatorSecret to your SANDBOX pair (bk_test_…), then run the folders from top to bottom. Every request is signed by the pre-request script of the collection.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    event: [script('prerequest', signingScript)],
    variable: [
      { key: 'baseUrl', value: baseUrl },
      ...['operatorKey', 'operatorSecret', 'playerId', 'externalId', 'depositId', 'withdrawalId', 'gameId'].map(
        (key) => ({ key, value: '' }),
      ),
    ],
    item: folders.map((folder, index) => ({
      name: `${index + 1} · ${folder.tag}`,
      item: stepsOf(folder).map((step) => {
        const operation = byId.get(step.operationId)
        if (operation === undefined) throw new Error(`the collection names an unknown operation: ${step.operationId}`)
        return requestItem(operation, step)
      }),
    })),
  }
}

const named = (steps: Folder['steps'] = []): readonly Step[] =>
  steps.map((step) => (typeof step === 'string' ? { operationId: step } : step))

const particular = new Set(folders.flatMap(({ steps }) => named(steps).map(({ operationId }) => operationId)))

function stepsOf({ tag, steps }: Folder): readonly Step[] {
  const others = httpOperations.filter((operation) => operation.tag === tag && !particular.has(operation.id))
  return [...named(steps), ...others.map(({ id }) => ({ operationId: id }))]
}

function requestItem(operation: Operation, step: Step): Json {
  const http = operation.http
  if (http === undefined) throw new Error(`${operation.id} has no HTTP route`)
  const route = http.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathVariables[name] ?? `{{${name}}}`)
  const query = Object.entries({ ...operation.example?.query, ...step.query }).map(([key, value]) => ({ key, value }))
  const queryString = query.map(({ key, value }) => `${key}=${value}`).join('&')
  const header: Json[] = []
  if (operation.hasBody) header.push({ key: 'Content-Type', value: 'application/json' })
  if (operation.idempotency === 'required') header.push({ key: 'Idempotency-Key', value: '{{$guid}}' })
  return {
    name: step.name ?? operation.summary,
    event: [script('test', testScript(operation, step))],
    request: {
      method: http.method,
      description: operation.description ?? operation.summary,
      header,
      url: {
        raw: `{{baseUrl}}${route}${queryString === '' ? '' : `?${queryString}`}`,
        host: ['{{baseUrl}}'],
        path: route.slice(1).split('/'),
        ...(query.length > 0 ? { query } : {}),
      },
      ...(operation.hasBody ? { body: bodyOf(operation, step) } : {}),
    },
  }
}

function bodyOf(operation: Operation, step: Step): Json {
  const example = { ...(operation.example?.body as Json | undefined), ...step.body }
  return { mode: 'raw', raw: JSON.stringify(example, null, 2), options: { raw: { language: 'json' } } }
}

function script(listen: string, source: string): Json {
  return { listen, script: { type: 'text/javascript', exec: source.split('\n') } }
}

function testScript(operation: Operation, step: Step): string {
  const expected = [operation.http?.status, ...(step.alsoStatus ?? [])]
  const statuses = JSON.stringify(expected)
  const lines = [
    `pm.test('answers ${expected.join(' or ')}', () => pm.expect(pm.response.code).to.be.oneOf(${statuses}))`,
    `pm.test('carries X-Request-Id', () => pm.expect(pm.response.headers.has('X-Request-Id')).to.equal(true))`,
  ]
  for (const [variable, property] of Object.entries(step.save ?? {})) {
    const value = property.split('.').reduce((path, key) => `${path}?.[${JSON.stringify(key)}]`, 'pm.response.json()')
    lines.push(`pm.collectionVariables.set('${variable}', ${value})`)
  }
  return lines.join('\n')
}
