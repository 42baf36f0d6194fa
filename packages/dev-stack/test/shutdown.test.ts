import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operations } from '@backoffice/contracts'
import { OperatorClient, postgres, startSystem } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'

t.setTimeout(120_000)

t.test('a stack that is stopped under load answers what it has taken, and no answer is a 5xx', async (t) => {
  // A PostgreSQL that outlives the stack can be asked what was done.
  process.env.POSTGRES_URL = await postgres()
  const system = await startSystem(t)
  const team = await system.asTeam('alice')
  const input = { name: 'busy', rateLimitPerMinute: 1_000_000 }
  const { sandbox } = await team.call(operations.gateway.createOperator, { input })
  const operator = new OperatorClient(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
  t.teardown(() => operator.close())

  const statuses = new Map<number | string, number>()
  const count = (outcome: number | string) => statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
  const enough = Promise.withResolvers<void>()
  let closed = false
  const client = async (number: number) => {
    for (let index = 0; !closed; index += 1) {
      const player = { externalId: `${number}-${index}`, name: 'Ana Souza', email: 'ana@example.com' }
      try {
        const answer = await operator.post('/players', { ...player, cpf: '52998224725', birthDate: '1990-05-17' })
        count(answer.status)
        if (statuses.get(201) === 100) enough.resolve()
      } catch (error) {
        count((error as { code?: string }).code ?? String(error))
        closed = true
      }
    }
  }
  const clients = Array.from({ length: 16 }, (_, number) => client(number))
  await enough.promise
  process.kill(Number(readFileSync(join(system.dir, 'supervisor.pid'), 'utf8')), 'SIGTERM')
  await Promise.all(clients)

  const answered = [...statuses.keys()].filter((outcome) => typeof outcome === 'number')
  t.same(answered, [201])
  const database = new pg.Client({ connectionString: system.postgresUrl })
  await database.connect()
  const { rows } = await database.query('select count(*)::int as players from players.player')
  await database.end()
  t.equal(rows[0].players, statuses.get(201), 'nothing was done without being answered')
})
