import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { operations, Rejection, sandboxGames } from '@backoffice/contracts'
import { freePort } from '@backoffice/local-stack'
import { connectNats } from '@backoffice/rpc'
import {
  eventually,
  OperatorClient,
  type System,
  serveHttp,
  startProcess,
  type Teardown,
  temporaryFolder,
} from '@backoffice/test-kit'
import { stringify } from 'yaml'
import { depositRequest, expectStatus } from '../journey.ts'

export interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

export interface LoadedRule {
  readonly name: string
  readonly type: 'alerting' | 'recording'
  readonly health: string
  readonly lastError?: string
}

/** A real Prometheus on loopback, which scrapes every second and stops with the test. */
export class Prometheus {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** @throws with what Prometheus says of a query that it refuses. */
  async query(expr: string): Promise<readonly Series[]> {
    const { resultType, result } = await this.#get<{ resultType: string; result: Series[] }>('query', { query: expr })
    if (resultType !== 'vector') throw new Error(`a vector was expected, not a ${resultType}: ${expr}`)
    return result
  }

  async metricNames(): Promise<ReadonlySet<string>> {
    return new Set(await this.#get<string[]>('label/__name__/values'))
  }

  async rules(): Promise<readonly LoadedRule[]> {
    const { groups } = await this.#get<{ groups: { rules: LoadedRule[] }[] }>('rules')
    return groups.flatMap((group) => group.rules)
  }

  async #get<T>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<T> {
    const answer = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const body = (await answer.json()) as { status: string; data: T; error?: string }
    if (body.status !== 'success') throw new Error(`${body.error}: ${parameters.query ?? path}`)
    return body.data
  }
}

/** @param targets the address of the metrics by job */
export async function startPrometheus(
  t: Teardown,
  targets: Readonly<Record<string, string>>,
  ruleFile: string,
): Promise<Prometheus> {
  const folder = temporaryFolder(t)
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [ruleFile],
    scrape_configs: Object.entries(targets).map(([job, address]) => {
      const { host, pathname } = new URL(address)
      return { job_name: job, metrics_path: pathname, static_configs: [{ targets: [host] }] }
    }),
  }
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config))
  const port = await freePort()
  const args = [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const { until } = startProcess(t, ['prometheus', ...args], { endsBy: 'SIGTERM' })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(`${url}/-/ready`)).ok)
  return new Prometheus(url)
}

/** What must never be in a metric. */
export const person = {
  name: 'Benedita Quintanilha',
  email: 'benedita.quintanilha@example.com',
  cpf: '529.982.247-25',
  phone: '+5511987654321',
  birthDate: '1990-05-17',
}
const withdrawal = { amount: '40.00', currency: 'BRL', method: 'pix', destination: person.email }

/** An operator with a webhook receiver that gives this answer. */
export async function operatorWithReceiver(t: Teardown, system: System, answer: number): Promise<OperatorClient> {
  const team = await system.asTeam('alice')
  const name = `telemetry ${answer} ${randomUUID().slice(0, 8)}`
  const { operatorId, sandbox } = await team.call(operations.gateway.createOperator, { input: { name } })
  const url = await serveHttp(t, (request, response) => {
    request.resume().on('end', () => response.writeHead(answer).end())
  })
  // The endpoint is made by a command that follows the operator's creation.
  await eventually(() =>
    team.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } }),
  )
  const client = new OperatorClient(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
  t.teardown(() => client.close())
  return client
}

/** The money path of one player: a deposit, a withdrawal that is paid, one that is cancelled, a game. */
export async function moneyPath(operator: OperatorClient): Promise<{ readonly playerId: string }> {
  const { id: playerId } = expectStatus(await operator.post('/players', { externalId: randomUUID(), ...person }), 201)
  expectStatus(await operator.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
  const deposit = expectStatus(await operator.post(`/players/${playerId}/deposits`, depositRequest('100.00')), 201)
  expectStatus(await operator.post(`/deposits/${deposit.id}/confirm`), 200)
  const paid = expectStatus(await operator.post(`/players/${playerId}/withdrawals`, withdrawal), 201)
  for (const decision of ['approve', 'pay'])
    expectStatus(await operator.post(`/sandbox/withdrawals/${paid.id}/decision`, { decision }), 200)
  const cancelled = expectStatus(await operator.post(`/players/${playerId}/withdrawals`, withdrawal), 201)
  expectStatus(await operator.post(`/withdrawals/${cancelled.id}/cancel`), 200)
  const game = expectStatus(await operator.post(`/players/${playerId}/game-sessions`, { gameId: 'fortune-reels' }), 201)
  const { origin, hash } = new URL(game.gameUrl)
  const headers = { Authorization: `Bearer ${hash.slice(1)}` }
  const page = await fetch(`${origin}/play/session`, { headers })
  if (!page.ok) throw new Error(`the demonstration replied ${page.status}`)
  return { playerId }
}

/** A deposit that waits for its confirmation, and that confirmation: the status of each try under one key. */
export async function pendingDeposit(operator: OperatorClient, playerId: string) {
  const { id } = expectStatus(await operator.post(`/players/${playerId}/deposits`, depositRequest('7.00')), 201)
  const idempotencyKey = randomUUID()
  return { confirm: async () => (await operator.post(`/deposits/${id}/confirm`, {}, { idempotencyKey })).status }
}

/** A retry with its key, requests that are refused at each door, and a game whose provider is away. */
export async function troubles(operator: OperatorClient, playerId: string): Promise<void> {
  const deposit = depositRequest('5.00')
  const idempotencyKey = randomUUID()
  for (let attempt = 1; attempt <= 2; attempt += 1)
    expectStatus(await operator.post(`/players/${playerId}/deposits`, deposit, { idempotencyKey }), 201)
  expectStatus(await operator.post(`/players/${playerId}/deposits`, depositRequest('6.00'), { idempotencyKey }), 409)
  expectStatus(await operator.post(`/players/${playerId}/deposits`, { amount: 'much' }), 422)
  expectStatus(await operator.post(`/players/${playerId}/withdrawals`, { ...withdrawal, amount: '999.00' }), 422)
  expectStatus(await operator.get('/me', { headers: { 'X-Signature': '0'.repeat(64) } }), 401)
  const gameId = sandboxGames.providerUnavailable
  expectStatus(await operator.post(`/players/${playerId}/game-sessions`, { gameId }), 502)
}

/** A page that anybody may see, and a call of somebody without the role for it. */
export async function refusedToTheTeam(system: System): Promise<void> {
  const { status } = await fetch(`${system.consoleUrl}/sign-in`)
  if (status !== 200) throw new Error(`the console replied ${status}`)
  const support = await system.asTeam('sofia')
  const refused = await support
    .call(operations.reconciler.reconcileWallet, { input: {} })
    .catch((error: unknown) => error)
  if (!(refused instanceof Rejection) || refused.code !== 'ROLE_REQUIRED') throw refused
}

/** Puts a message into the stream that no consumer can read. */
export async function publishNonsense(system: System): Promise<void> {
  const { nats } = JSON.parse(readFileSync(join(system.dir, 'secrets.json'), 'utf8')) as { nats: { players: string } }
  const login = { NATS_URL: system.natsUrl, NATS_USER: 'players', NATS_PASSWORD: nats.players }
  const connection = await connectNats(login, { name: 'telemetry test' })
  connection.publish('events.kyc.status_changed', 'nonsense')
  await connection.drain()
}
