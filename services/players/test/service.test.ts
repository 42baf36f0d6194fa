import { ConfigurationError, createLogger, loadConfig } from '@backoffice/process'
import t from 'tap'
import { GameProvider } from '../src/games/game-provider.ts'
import { providerMeasurement } from '../src/measurements.ts'
import { players } from '../src/service.ts'

t.test('outside development it does not start before it is told where browsers reach its games', async (t) => {
  const environment = { DATABASE_URL: 'postgres://127.0.0.1/backoffice', NATS_URL: 'nats://127.0.0.1' }
  const check = (own: Record<string, string>) =>
    players.assertSettings?.(loadConfig(players.configuration, { ...environment, ...own }) as never)
  t.throws(() => check({}), ConfigurationError)
  t.doesNotThrow(() => check({ DEVELOPMENT: 'true' }))
  t.doesNotThrow(() => check({ GAMES_BASE_URL: 'https://games.example' }))
})

t.test('the gauge shows when launches are refused without asking the provider', async (t) => {
  // Nothing listens on the port of the discard service.
  const options = { url: 'http://127.0.0.1:9', token: undefined, timeoutMs: 1_000, openMs: 60_000, allowHttp: true }
  const provider = new GameProvider({ ...options, log: createLogger('players', 'silent') })
  const { read } = providerMeasurement(provider)
  const open = async () => (await read())['backoffice.provider.breaker_open']
  t.strictSame(await open(), [{ value: 0 }])
  const launch = { sessionId: 'ses_1', gameId: 'star-miner', playerId: 'ply_1', brandId: 'brd_1', currency: 'BRL' }
  for (let count = 0; count < 3; count++) {
    await t.rejects(provider.launch(launch, new Date(Date.now() + 5_000)), { code: 'PROVIDER_UNAVAILABLE' })
  }
  t.strictSame(await open(), [{ value: 1 }])
})
