import { randomBytes } from 'node:crypto'
import { apiPrefix, operations } from '@backoffice/contracts'
import type { Case, Setting } from '../case.ts'
import { get, LoadOperator } from '../load/operator.ts'
import { clientsOf, measureLoad } from '../measure.ts'
import { startNatsServer, startProgram } from './child-program.ts'

const credentials = { key: 'bk_test_reference', secret: `sk_${randomBytes(32).toString('hex')}` }
const subject = 'echo'

type Needs = Pick<Setting, 'options' | 'ending'>
interface Load {
  readonly clients: number
}

/**
 * What a signed read costs at the least: Fastify, the check of the signature, and one request over NATS to a process that
 * replies at once. No database, no validation, no rate limit.
 */
export async function echoReference({ options, ending }: Needs, { clients }: Load): Promise<Case> {
  const nats = await startNatsServer(ending)
  const wallet = operations.wallet.getWallet
  const settings = { natsUrl: nats.url, subject, body: wallet.example?.reply }
  const responder = await startProgram('./echo-responder.ts', settings, ending)
  const path = apiPrefix + (wallet.http?.path ?? '').replace('{playerId}', ':playerId')
  const server = await startProgram('./echo-server.ts', { ...settings, path, secret: credentials.secret }, ending)
  const operator = new LoadOperator(`${server.ready}${apiPrefix}`, credentials)
  ending.defer(() => operator.close())
  const processes = { server: server.child.pid ?? 0, responder: responder.child.pid ?? 0, nats: nats.pid }
  const read = get('/players/ply_01kaj6dfw0e2x8bxmtpcs8nwfe/wallet')
  return {
    id: 'echo',
    title: `Fastify + HMAC + one NATS echo, ${clientsOf(options, clients)}`,
    column: 'reference',
    shows: 'perSecond',
    measure: () =>
      measureLoad({ options, clients, processes: () => processes }, async (client, load) => {
        await operator.measured(client, load, read, 200)
      }),
  }
}

/** The JSON of `GET /me` from Fastify alone. Its requests are signed too, so that the client does the same work. */
export async function bareReference({ options, ending }: Needs, { clients }: Load): Promise<Case> {
  const me = operations.gateway.getMe
  const settings = { path: `${apiPrefix}/me`, body: me.example?.reply }
  const server = await startProgram('./bare-server.ts', settings, ending)
  const operator = new LoadOperator(`${server.ready}${apiPrefix}`, credentials)
  ending.defer(() => operator.close())
  const processes = { server: server.child.pid ?? 0 }
  return {
    id: 'bare',
    title: `bare Fastify, same JSON, ${clientsOf(options, clients)}`,
    column: 'reference',
    shows: 'perSecond',
    measure: () =>
      measureLoad({ options, clients, processes: () => processes }, async (client, load) => {
        await operator.measured(client, load, get('/me'), 200)
      }),
  }
}
