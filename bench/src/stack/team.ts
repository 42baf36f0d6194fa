import { setTimeout as wait } from 'node:timers/promises'
import { operations, type ReconciliationReport, type Scope, seenOf, teamConsole } from '@backoffice/contracts'
import { StackPerson, type TeamUser } from '@backoffice/dev-stack'
import { RpcClient } from '@backoffice/rpc'
import type { NatsConnection } from '@nats-io/transport-node'
import { connectAs } from '../load/nats-requests.ts'
import type { RunningStack } from './subject.ts'

/** The largest rate limit that the operation accepts. No load here reaches it. */
const rateLimitPerMinute = 10_000_000
const reason = 'bench'
const person: TeamUser = 'alice'
const reconcileLookEveryMs = 200

/** The team's operations, called in the name of one of its members. */
export class Team {
  readonly #connection: NatsConnection
  readonly #rpc: RpcClient

  private constructor(connection: NatsConnection, { issuer, consoleUrl }: RunningStack['description']) {
    this.#connection = connection
    this.#rpc = new RpcClient(connection, new StackPerson({ issuer, consoleUrl, person, tool: 'command line' }))
  }

  static async of(stack: RunningStack): Promise<Team> {
    const { description } = stack
    const login = { url: description.natsUrl, user: teamConsole, password: stack.natsPassword(teamConsole) }
    return new Team(await connectAs(login), description)
  }

  /** The sandbox of an operator. Its rate limit is raised, so that no load reaches it. */
  async sandboxOf(name: string): Promise<Scope> {
    const { getOperator, setOperatorLimits } = operations.gateway
    const operator = await this.#rpc.call(getOperator, { input: { name } })
    const { id: operatorId, brands } = operator
    const brand = brands.find(({ environment }) => environment === 'sandbox')
    if (brand === undefined) throw new Error(`operator ${name} has no sandbox`)
    const seen = seenOf(setOperatorLimits, operator)
    await this.#rpc.call(setOperatorLimits, { input: { operatorId, rateLimitPerMinute, seen, reason } })
    const { id: brandId, currency, timeZone } = brand
    return { operatorId, brandId, environment: 'sandbox', currency, timeZone }
  }

  async createOperator(name: string): Promise<Scope> {
    await this.#rpc.call(operations.gateway.createOperator, { input: { name, reason } })
    return this.sandboxOf(name)
  }

  async setWebhookUrl({ operatorId, environment }: Scope, url: string): Promise<void> {
    const { setWebhookUrl, showWebhook } = operations.webhooks
    const seen = seenOf(setWebhookUrl, await this.#rpc.call(showWebhook, { input: { operatorId, environment } }))
    await this.#rpc.call(setWebhookUrl, { input: { operatorId, environment, url, seen, reason } })
  }

  ask(operation: Parameters<RpcClient['call']>[0], input: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#rpc.call(operation, { input })
  }

  /** @throws when the reconciliation itself failed */
  async reconcile(full = true, restoredTo?: string): Promise<ReconciliationReport> {
    const ask = (runId?: string) =>
      this.#rpc.call(operations.reconciler.reconcileWallet, {
        input: runId === undefined ? { full, ...(restoredTo === undefined ? {} : { restoredTo }) } : { runId },
      })
    for (let run = await ask(); ; run = await ask(run.runId)) {
      if (run.report !== null) return run.report
      if (run.state === 'failed') throw new Error(`the reconciliation failed: ${run.failure}`)
      await wait(reconcileLookEveryMs)
    }
  }

  close(): Promise<void> {
    return this.#connection.close()
  }
}
