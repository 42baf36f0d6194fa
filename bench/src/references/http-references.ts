import { type ChildProcess, fork, type Serializable, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { apiPrefix, operations } from '@backoffice/contracts'
import { freePort, natsServerBinary } from '@backoffice/dev-stack'
import type { Case, Setting } from '../case.ts'
import type { Work } from '../load/load.ts'
import { get, LoadOperator } from '../load/operator.ts'
import { measureLoad } from '../measure.ts'
import type { ProgramName } from './programs.ts'

const credentials = { key: 'bk_test_reference', secret: `sk_${randomBytes(32).toString('hex')}` }
const subject = 'echo'

type Needs = Pick<Setting, 'options' | 'ending'>
interface Program {
  readonly child: ChildProcess
  readonly ready: Serializable
}

/**
 * What a signed read costs at the least: Fastify, the check of the signature, and one request over NATS to a process that
 * replies at once. No database, no validation, no rate limit.
 */
export async function echoReference(needs: Needs, clients: number): Promise<Case> {
  const nats = await startNatsServer(needs.ending)
  const wallet = operations.wallet.getWallet
  const settings = { natsUrl: nats.url, subject, body: wallet.example?.reply }
  const responder = await startProgram('responder', settings, needs.ending)
  const path = apiPrefix + (wallet.http?.path ?? '').replace('{playerId}', ':playerId')
  const server = await startProgram('echo', { ...settings, path, secret: credentials.secret }, needs.ending)
  const read = get('/players/ply_01kaj6dfw0e2x8bxmtpcs8nwfe/wallet')
  const title = `Fastify + HMAC + one NATS echo, ${clients} clients`
  const beside = { responder: responder.child.pid ?? 0, nats: nats.pid }
  return readCase(needs, { id: 'echo', title, clients, read, server, beside })
}

/** The JSON of `GET /me` from Fastify alone. Its requests are signed too, so that the client does the same work. */
export async function bareReference(needs: Needs, clients: number): Promise<Case> {
  const settings = { path: `${apiPrefix}/me`, body: operations.gateway.getMe.example?.reply }
  const server = await startProgram('bare', settings, needs.ending)
  const title = `bare Fastify, same JSON, ${clients} clients`
  return readCase(needs, { id: 'bare', title, clients, read: get('/me'), server })
}

interface ReadCase extends Pick<Case, 'id' | 'title'> {
  readonly clients: number
  readonly read: ReturnType<typeof get>
  readonly server: Program
  /** Processes beside the server. */
  readonly beside?: Readonly<Record<string, number>>
}

function readCase({ options, ending }: Needs, { id, title, clients, read, server, beside }: ReadCase): Case {
  const operator = new LoadOperator(`${server.ready}${apiPrefix}`, credentials)
  ending.defer(() => operator.close())
  const settings = { options, clients, processes: () => ({ server: server.child.pid ?? 0, ...beside }) }
  const work: Work = async (client, load) => {
    await operator.measured(client, load, read, 200)
  }
  return { id, title, column: 'reference', shows: 'perSecond', measure: () => measureLoad(settings, work) }
}

/**
 * Starts one of the programs as a process of its own, so that it is scheduled as a service is and its processor time is its
 * own.
 */
export async function startProgram(
  name: ProgramName,
  settings: unknown,
  ending: AsyncDisposableStack,
): Promise<Program> {
  const child = fork(fileURLToPath(new URL('programs.ts', import.meta.url)), [name, JSON.stringify(settings)])
  ending.defer(() => end(child))
  const [ready] = await Promise.race([
    once(child, 'message') as Promise<[Serializable]>,
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ])
  return { child, ready }
}

/** Starts a nats-server with its default settings, for the references alone. Who connects waits until it listens. */
async function startNatsServer(ending: AsyncDisposableStack): Promise<{ url: string; pid: number }> {
  const port = await freePort()
  const child = spawn(await natsServerBinary(), ['--addr', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' })
  ending.defer(() => end(child))
  return { url: `nats://127.0.0.1:${port}`, pid: child.pid ?? 0 }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
