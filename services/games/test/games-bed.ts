import { randomUUID } from 'node:crypto'
import { operations, type Scope } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/process'
import { type Teardown, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
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
