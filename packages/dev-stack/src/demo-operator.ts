import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, operations, Rejection } from '@backoffice/contracts'
import { connectNats, RpcClient } from '@backoffice/service-runtime/client'
import { writeFileAtomically } from './atomic-file.ts'
import type { StackSecrets } from './secrets.ts'
import type { EnvironmentCredentials, StackOperator } from './stack-file.ts'
import type { TeamUser } from './team-users.ts'

const operatorName = 'demo'
/** The person of the team in whose name the demo operator is made. */
const creator: TeamUser = 'alice'
const reason = 'demo operator of npm start'

/** The demo operator, made the first time as the team would make it. Its secrets are shown only then, so they are kept. */
export async function demoOperators(
  dir: string,
  natsUrl: string,
  secrets: StackSecrets,
): Promise<readonly StackOperator[]> {
  const file = join(dir, 'operators.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as StackOperator[]

  const login = { NATS_URL: natsUrl, NATS_USER: creator, NATS_PASSWORD: secrets.team[creator] }
  const connection = await connectNats(login, { name: 'npm start' })
  try {
    const rpc = new RpcClient(connection, creator)
    const operators = [(await createDemo(rpc)) ?? (await issueAnew(rpc))]
    writeFileAtomically(file, `${JSON.stringify(operators, null, 2)}\n`)
    return operators
  } finally {
    await connection.close()
  }
}

/** @returns undefined when the operator exists already: its secrets were shown to somebody else. */
async function createDemo(rpc: RpcClient): Promise<StackOperator | undefined> {
  try {
    const { createOperator } = operations.gateway
    const { name, sandbox, production } = await rpc.call(createOperator, { input: { name: operatorName, reason } })
    return { name, sandbox: shown(sandbox), production: shown(production) }
  } catch (error) {
    if (error instanceof Rejection && error.code === 'OPERATOR_ALREADY_EXISTS') return undefined
    throw error
  }
}

/** On somebody else's database, or after a first start that was cut short: new secrets beside the ones that nobody has. */
async function issueAnew(rpc: RpcClient): Promise<StackOperator> {
  const { id: operatorId, name } = await rpc.call(operations.gateway.getOperator, { input: { name: operatorName } })
  const issue = async (environment: Environment): Promise<EnvironmentCredentials> => {
    const input = { operatorId, environment, reason }
    const { key, secret } = await rpc.call(operations.gateway.issueCredential, { input })
    const { webhookSecret } = await rpc.call(operations.webhooks.rotateWebhookSecret, { input })
    return shown({ key, secret, webhookSecret })
  }
  return { name, sandbox: await issue('sandbox'), production: await issue('production') }
}

interface ShownCredentials {
  readonly key: string
  /** null in the reply to a repeated operation. */
  readonly secret: string | null
  readonly webhookSecret: string | null
}

function shown({ key, secret, webhookSecret }: ShownCredentials): EnvironmentCredentials {
  if (secret === null || webhookSecret === null) throw new Error('the team operation did not show the new secrets')
  return { key, secret, webhookSecret }
}
