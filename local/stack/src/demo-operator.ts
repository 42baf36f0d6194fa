import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  defined,
  type Environment,
  type Input,
  type Operation,
  operations,
  Rejection,
  type Reply,
  seenOf,
} from '@backoffice/contracts'
import { connectNats, RpcClient } from '@backoffice/rpc'
import { StackPerson } from './identity/log-in.ts'
import type { TeamUser } from './identity/people.ts'
import {
  type EnvironmentCredentials,
  type StackOperator,
  type StackProvider,
  writeFileAtomically,
} from './stack-file.ts'

const operatorName = 'demo'
/** The people of the team in whose names the demo operator is made. The second one is needed for what takes two. */
const creators: readonly [TeamUser, TeamUser] = ['alice', 'bob']
const reason = 'demo operator of npm start'
/** The public games are a provider of their own, of one game that stakes money. */
const providerName = 'Sandbox'
const gameId = 'wallet-reels'

export interface DemoTeam {
  readonly issuer: string
  readonly consoleUrl: string
  readonly natsUrl: string
  /** Of the broker's user `console`, which alone may pass on what the team calls. */
  readonly consolePassword: string
}

/** The demo operator, made the first time as the team would make it. Its secrets are shown only then, so they are kept. */
export const demoOperators = (dir: string, team: DemoTeam): Promise<readonly StackOperator[]> =>
  keptIn(join(dir, 'operators.json'), () =>
    asTwo(team, async (two) => [(await createDemo(two[0])) ?? (await issueAnew(two))]),
  )

/**
 * The provider of the game that stakes the money of the demo operator's sandbox, made the first time. Its game belongs to it
 * once it may call.
 */
export const demoProvider = (dir: string, team: DemoTeam): Promise<StackProvider> =>
  keptIn(join(dir, 'provider.json'), () =>
    asTwo(team, async ([rpc]) => {
      const { getOperator, setProviderGrant, issueProviderKey } = operations.gateway
      const { id: providerId, name } = await createProvider(rpc)
      const { brands } = await rpc.call(getOperator, { input: { name: operatorName } })
      const brandId = brands.find(({ environment }) => environment === 'sandbox')?.id ?? ''
      const seen = { name }
      await rpc.call(setProviderGrant, { input: { providerId, brandId, grant: 'active', seen, reason } })
      const input = { providerId, environment: 'sandbox', seen, reason } as const
      const { key, secret } = await rpc.call(issueProviderKey, { input })
      if (secret === null) throw new Error('the team operation did not show the new secret')
      await rpc.call(operations.players.setGameProvider, { input: { gameId, providerId, reason } })
      return { name, id: providerId, brandId, gameId, key, secret }
    }),
  )

/** After a first start that was cut short it is there already. */
async function createProvider(rpc: RpcClient) {
  try {
    return await rpc.call(operations.gateway.createProvider, { input: { name: providerName, reason } })
  } catch (error) {
    if (!(error instanceof Rejection) || error.code !== 'PROVIDER_ALREADY_EXISTS') throw error
    return rpc.call(operations.gateway.getProvider, { input: { name: providerName } })
  }
}

/** What was made at an earlier start, or is made now. */
async function keptIn<T>(file: string, make: () => Promise<T>): Promise<T> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T
  const made = await make()
  writeFileAtomically(file, `${JSON.stringify(made, null, 2)}\n`)
  return made
}

/** Does something in the names of two people of the team. */
async function asTwo<T>(team: DemoTeam, work: (two: readonly [RpcClient, RpcClient]) => Promise<T>): Promise<T> {
  const { issuer, consoleUrl, natsUrl, consolePassword } = team
  const login = { NATS_URL: natsUrl, NATS_USER: 'console', NATS_PASSWORD: consolePassword }
  const connection = await connectNats(login, { name: 'npm start' })
  try {
    const [first, second] = creators.map(
      (person) => new RpcClient(connection, new StackPerson({ issuer, consoleUrl, person, tool: 'command line' })),
    ) as [RpcClient, RpcClient]
    return await work([first, second])
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
async function issueAnew(two: readonly [RpcClient, RpcClient]): Promise<StackOperator> {
  const { id: operatorId, name } = await two[0].call(operations.gateway.getOperator, { input: { name: operatorName } })
  const issue = async (environment: Environment): Promise<EnvironmentCredentials> => {
    const { rotateWebhookSecret, showWebhook } = operations.webhooks
    const input = { operatorId, environment, reason }
    const { key, secret } = await callAsTwo(two, operations.gateway.issueCredential, { ...input, seen: { name } })
    const endpoint = await two[0].call(showWebhook, { input: { operatorId, environment } })
    const seen = seenOf(rotateWebhookSecret, endpoint)
    const { webhookSecret } = await callAsTwo(two, rotateWebhookSecret, { ...input, seen })
    return shown({ key, secret, webhookSecret })
  }
  return { name, sandbox: await issue('sandbox'), production: await issue('production') }
}

/** In production the second one carries out what the first one proposed, to whom the secrets are shown then. */
async function callAsTwo<O extends Operation>(
  [first, second]: readonly [RpcClient, RpcClient],
  operation: O,
  input: Input<O>,
): Promise<Reply<O>> {
  try {
    return await first.call(operation, { input })
  } catch (error) {
    if (!(error instanceof Rejection) || error.code !== 'AWAITS_APPROVAL') throw error
    const proposalId = String(error.details?.proposalId)
    await second.call(operation, { input, approves: proposalId })
    // It may have been proposed at an earlier start.
    const { listProposals } = operations[operation.service]
    const { data } = await first.call(listProposals, { input: { proposalId, limit: 1 } })
    return first.call(operation, { input, ...defined({ operationId: data[0]?.operationId }) })
  }
}

interface ShownCredentials {
  readonly key: string
  /** null in the reply to a repeated operation. */
  readonly secret: string | null
  readonly webhookSecret: string | null
}

function shown(pair: ShownCredentials | null): EnvironmentCredentials {
  const { key = '', secret = null, webhookSecret = null } = pair ?? {}
  if (secret === null || webhookSecret === null) throw new Error('the team operation did not show the new secrets')
  return { key, secret, webhookSecret }
}
