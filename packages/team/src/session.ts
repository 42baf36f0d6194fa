import { defined, type Input, type Operation, operations, type Reply } from '@backoffice/contracts'
import { connectNats, loadConfig, natsConfig, newId, RpcClient } from '@backoffice/service-runtime/client'
import { say } from './output.ts'

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
 * Where NATS is and who calls: from the environment in a cluster, from the running stack on a developer's machine. The
 * user name proves nothing by itself, but the broker lets nobody publish in another's name.
 */
async function identity(options: ConnectionOptions): Promise<Identity> {
  const { NATS_URL, NATS_USER, NATS_PASSWORD, NATS_PASSWORD_FILE } = process.env
  if (NATS_URL !== undefined && NATS_USER !== undefined && (NATS_PASSWORD ?? NATS_PASSWORD_FILE) !== undefined) {
    const { NATS_PASSWORD: password = '' } = loadConfig(natsConfig, process.env)
    return { url: NATS_URL, user: NATS_USER, password }
  }
  // Imported only here, because an image has no development stack in it.
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
  readonly #rpc: Pick<RpcClient, 'call'>
  readonly #close: () => Promise<void>

  constructor(rpc: Pick<RpcClient, 'call'>, close: () => Promise<void>) {
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
    const connection = await connectNats(defined(config), { name: `team-${user}`, attemptsMax: 3 })
    return new Session(new RpcClient(connection, user), () => connection.close())
  }

  /**
   * Calls an operation. If it changes something, its id is printed before it is sent. Whatever happens then, calling it
   * again with the same id finishes it or shows its result.
   */
  call<O extends Operation>(operation: O, input: Input<O>, operationId = newId('opn')): Promise<Reply<O>> {
    if (operation.kind !== 'query') say(`operation ${operationId}\n`)
    return this.#rpc.call(operation, { input, operationId })
  }

  close(): Promise<void> {
    return this.#close()
  }

  /** An operator by name or id. */
  operator(name: string) {
    return this.call(operations.gateway.getOperator, { name })
  }

  /** The brand of an operator in an environment. */
  async brand(operatorName: string, environment: string) {
    const { brands } = await this.operator(operatorName)
    const brand = brands.find((candidate) => candidate.environment === environment)
    if (brand === undefined) throw new Error(`${operatorName} has no brand in ${environment}`)
    return brand
  }
}
