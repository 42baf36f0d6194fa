import { setTimeout as wait } from 'node:timers/promises'
import { operations, type ReconciliationReport, type Scope } from '@backoffice/contracts'
import { RpcClient } from '@backoffice/service-runtime/internal'
import type { NatsConnection } from '@nats-io/transport-node'
import { connectAs } from '../load/nats-requests.ts'
import type { RunningStack } from './running-stack.ts'

/** More than any load here sends; the largest that the operation takes. */
const rateLimitPerMinute = 10_000_000
const reason = 'bench'
const reconcileLookEveryMs = 200

/** What the service's own team does, done in the name of one of its people. */
export class Team {
  readonly #connection: NatsConnection
  readonly #rpc: RpcClient

  private constructor(connection: NatsConnection, user: string) {
    this.#connection = connection
    this.#rpc = new RpcClient(connection, user)
  }

  static async of({ description }: RunningStack): Promise<Team> {
    const [user, password] = Object.entries(description.team)[0] ?? ['nobody', '']
    return new Team(await connectAs({ url: description.natsUrl, user, password }), user)
  }

  /** The sandbox of an operator, whose rate limit is then beyond any load. */
  async openSandbox(name: string): Promise<Scope> {
    const { id: operatorId, brands } = await this.#rpc.call(operations.gateway.getOperator, { input: { name } })
    const brand = brands.find(({ environment }) => environment === 'sandbox')
    if (brand === undefined) throw new Error(`operator ${name} has no sandbox`)
    await this.#rpc.call(operations.gateway.setOperatorLimits, { input: { operatorId, rateLimitPerMinute, reason } })
    const { id: brandId, currency, timeZone } = brand
    return { operatorId, brandId, environment: 'sandbox', currency, timeZone }
  }

  async createOperator(name: string): Promise<Scope> {
    await this.#rpc.call(operations.gateway.createOperator, { input: { name, reason } })
    return this.openSandbox(name)
  }

  async setWebhookUrl({ operatorId, environment }: Scope, url: string): Promise<void> {
    await this.#rpc.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment, url, reason } })
  }

  /** What waits for the endpoint is withheld, and nothing more is sent to it. */
  async disableWebhook({ operatorId, environment }: Scope): Promise<void> {
    await this.#rpc.call(operations.webhooks.disableWebhook, { input: { operatorId, environment, reason } })
  }

  /** @throws when the reconciliation itself failed */
  async reconcile(): Promise<ReconciliationReport> {
    const ask = (runId?: string) =>
      this.#rpc.call(operations.wallet.reconcileWallet, { input: runId === undefined ? {} : { runId } })
    for (let answer = await ask(); ; answer = await ask(answer.runId)) {
      if (answer.report !== null) return answer.report
      if (answer.state === 'failed') throw new Error(`the reconciliation failed: ${answer.failure}`)
      await wait(reconcileLookEveryMs)
    }
  }

  close(): Promise<void> {
    return this.#connection.close()
  }
}
