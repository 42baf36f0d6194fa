import { type Input, type Operation, operations, type Reply } from '@backoffice/contracts'
import { connectNats, newId, RpcClient } from '@backoffice/service-runtime/internal'

export interface ConnectionOptions {
  /** A person of the development stack's team. */
  readonly as?: string
}

interface Identity {
  readonly url: string
  readonly user: string
  readonly password: string
}

/**
 * Where NATS is and who asks: the environment in a cluster, the running stack on a developer's machine. The user name is
 * only a claim; the broker lets nobody publish in another's name.
 */
async function identity(options: ConnectionOptions): Promise<Identity> {
  const { NATS_URL, NATS_USER, NATS_PASSWORD } = process.env
  if (NATS_URL !== undefined && NATS_USER !== undefined && NATS_PASSWORD !== undefined) {
    return { url: NATS_URL, user: NATS_USER, password: NATS_PASSWORD }
  }
  // Only here: an image has no development stack in it.
  const { readStack } = await import('@backoffice/dev-stack')
  const stack = readStack()
  const user = options.as ?? process.env.TEAM_USER ?? Object.keys(stack.team)[0] ?? ''
  const password = stack.team[user]
  if (password === undefined)
    throw new Error(`the stack knows no person "${user}": it has ${Object.keys(stack.team).join(', ')}`)
  return { url: stack.natsUrl, user, password }
}

/** One connection to the services, in the name of one person. */
export class Session {
  readonly user: string
  readonly #rpc: RpcClient
  readonly #close: () => Promise<void>

  private constructor(user: string, rpc: RpcClient, close: () => Promise<void>) {
    this.user = user
    this.#rpc = rpc
    this.#close = close
  }

  static async open(options: ConnectionOptions): Promise<Session> {
    const { url, user, password } = await identity(options)
    const config = {
      NATS_URL: url,
      NATS_USER: user,
      NATS_PASSWORD: password,
      NATS_CA_FILE: process.env.NATS_CA_FILE,
      NATS_CERT_FILE: process.env.NATS_CERT_FILE,
      NATS_KEY_FILE: process.env.NATS_KEY_FILE,
    }
    const connection = await connectNats(withoutAbsent(config), { name: `team-${user}`, attemptsMax: 3 })
    return new Session(user, new RpcClient(connection, user), () => connection.close())
  }

  ask<O extends Operation>(operation: O, input: Input<O>): Promise<Reply<O>> {
    return this.#rpc.call(operation, { input })
  }

  /** Changes something. The id is shown before it is sent: whatever happens then, the same id finishes it or tells its result. */
  act<O extends Operation>(operation: O, input: Input<O>, operationId: string = newId('opn')): Promise<Reply<O>> {
    process.stderr.write(`operation ${operationId}\n`)
    return this.#rpc.call(operation, { input, operationId })
  }

  close(): Promise<void> {
    return this.#close()
  }

  /** An operator by name or id. */
  operator(name: string) {
    return this.ask(operations.gateway.getOperator, { name })
  }

  /** The brand of an operator in an environment. */
  async brand(operatorName: string, environment: string) {
    const operator = await this.operator(operatorName)
    const brand = operator.brands.find((candidate) => candidate.environment === environment)
    if (brand === undefined) throw new Error(`${operatorName} has no brand in ${environment}`)
    return { ...brand, operatorId: operator.id }
  }
}

function withoutAbsent<T extends Record<string, string | undefined>>(
  config: T,
): { NATS_URL: string } & { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as never
}
