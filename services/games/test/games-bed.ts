import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { operations, type Scope } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/process'
import { newCpf, OperatorClient, serveHttp, type Teardown, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import { settings, startGames } from '../src/program.ts'

const person = { name: 'Ana Souza', email: 'ana@example.com', cpf: '529.982.247-25', birthDate: '1990-05-17' }

/** The services that open games, and as many programs of the public games as a test wants. */
export async function gamesBed(t: Teardown, clock?: { now(): Date }) {
  const bed = await testBed(t, { players, wallet, payments }, clock === undefined ? {} : { clock })
  const scope = bed.scope()
  return {
    bed,
    scope,
    /** @returns its address, without a slash at the end */
    async start(t: Teardown, environment: Record<string, string> = {}): Promise<string> {
      const games = await startGames(loadConfig(settings, { ...bed.gamesEnvironment(), ...environment }), clock)
      t.teardown(() => games.drain())
      return `http://127.0.0.1:${games.port}`
    },
    /** A player who may play. */
    newPlayer: () => newPlayer(bed, scope),
    /** Opens a demonstration, as an operator does. */
    async open(playerId: string, gameId = 'fortune-reels') {
      const input = { playerId, gameId }
      const { gameUrl } = await bed.rpc.call(operations.players.openGameSession, { scope, input })
      const { pathname, hash } = new URL(gameUrl)
      return { path: `${pathname}${hash}`, token: hash.slice(1) }
    },
  }
}

async function newPlayer(bed: Awaited<ReturnType<typeof testBed>>, scope: Scope): Promise<string> {
  const input = { externalId: randomUUID(), ...person }
  const { id } = await bed.rpc.call(operations.players.registerPlayer, { scope, input })
  await bed.team('alice').call(operations.players.decideKyc, {
    input: { playerId: id, submission: null, status: 'aprovado', reason: 'documents match' },
  })
  return id
}

/** What happens to what the games send to the house. */
type Fault = 'none' | 'not delivered' | 'reply lost'

/**
 * The whole way of a spin that stakes the sandbox's wallet: the games as a provider of the house, and an operator with
 * players. Between the games and the house stands a network that a test can make faulty.
 */
export async function walletBed(t: Teardown, clock?: { now(): Date }) {
  const bed = await testBed(t, { gateway, players, wallet, payments, webhooks }, clock === undefined ? {} : { clock })
  const alice = bed.team('alice')
  const { createOperator, getOperator, createProvider, setProviderGrant, issueProviderKey } = operations.gateway
  const { operatorId, sandbox } = await alice.call(createOperator, { input: { name: 'games' } })
  const { brands } = await alice.call(getOperator, { input: { name: operatorId } })
  const brandId = brands.find(({ environment }) => environment === 'sandbox')?.id ?? ''
  const { id: providerId } = await alice.call(createProvider, { input: { name: 'Sandbox' } })
  await alice.call(setProviderGrant, { input: { providerId, brandId, grant: 'active' } })
  const { key, secret } = await alice.call(issueProviderKey, { input: { providerId, environment: 'sandbox' } })
  await alice.call(operations.players.setGameProvider, { input: { gameId: 'wallet-reels', providerId } })
  const { baseUrl, providerUrl } = bed.services.gateway.addresses
  const client = new OperatorClient(baseUrl, sandbox as { key: string; secret: string })
  t.teardown(() => client.close())
  const network = { fault: 'none' as Fault, sent: [] as string[] }
  const house = await serveHttp(t, (request, response) => void pass(network, providerUrl)(request, response))
  const provider = {
    GAMES_PROVIDER_URL: `${house}${new URL(providerUrl).pathname}`,
    GAMES_PROVIDER_KEY: key,
    GAMES_PROVIDER_SECRET: secret ?? '',
  }
  const post = async (path: string, body: object = {}) => {
    const reply = await client.post(path, body, { idempotencyKey: randomUUID() })
    if (reply.status >= 300) throw new Error(`${path}: ${reply.bytes}`)
    return reply.body
  }
  return {
    ...{ bed, alice, network, providerId, brandId },
    provider,
    async start(t: Teardown, environment: Record<string, string> = provider): Promise<string> {
      const games = await startGames(loadConfig(settings, { ...bed.gamesEnvironment(), ...environment }), clock)
      t.teardown(() => games.drain())
      return `http://127.0.0.1:${games.port}`
    },
    /** Who may play, with money in the wallet. */
    async newPlayer(amount = '50.00'): Promise<string> {
      const { id } = await post('/players', { externalId: randomUUID(), ...person, cpf: newCpf() })
      await post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' })
      const deposit = { amount, currency: 'BRL', method: 'pix', externalReference: randomUUID() }
      await post(`/deposits/${(await post(`/players/${id}/deposits`, deposit)).id}/confirm`)
      return id
    },
    async open(playerId: string, gameId = 'wallet-reels') {
      const { id, gameUrl } = await post(`/players/${playerId}/game-sessions`, { gameId })
      const { pathname, hash } = new URL(gameUrl)
      return { id: id as string, path: `${pathname}${hash}`, token: hash.slice(1) }
    },
    /** The types and amounts of the statement, the newest first. */
    async statement(playerId: string): Promise<[type: string, amount: string][]> {
      const { body } = await client.get(`/players/${playerId}/transactions?limit=100`)
      return body.data.map(({ type, amount }: { type: string; amount: string }) => [type, amount])
    },
    balance: async (playerId: string) => (await client.get(`/players/${playerId}/wallet`)).body.available as string,
  }
}

/** Passes requests on as they are, or loses them or their replies. */
const pass =
  (network: { readonly fault: Fault; readonly sent: string[] }, providerUrl: string) =>
  async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    const body = await buffer(request)
    const fault = request.method === 'POST' ? network.fault : 'none'
    if (request.method === 'POST') network.sent.push(body.toString())
    if (fault === 'not delivered') return void request.socket.destroy()
    const headers = Object.entries(request.headers).filter(([name]) => name.startsWith('x-') || name === 'content-type')
    const answer = await fetch(new URL(request.url ?? '', providerUrl), {
      method: request.method ?? 'GET',
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(request.method === 'POST' ? { body } : {}),
    })
    const text = await answer.text()
    if (fault === 'reply lost') return void request.socket.destroy()
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text)
  }
