import { operations } from '@backoffice/contracts'
import { OperatorClient, reconcile, refusal, type TeamUser, TestTime, testBed } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { services } from '../services.ts'
import { Book, compareAll, decideKyc, type Reached, reason, register, stakedGame } from './book.ts'
import { steps } from './book-steps.ts'
import { allowRandomRuns, holdsForRandom } from './random-runs.ts'

allowRandomRuns(t)

/** It moves only where a step says so, so that the end of a day never falls into a step. */
const present = new TestTime(new Date('2026-03-02T15:00:00.000Z'))
const clock: Reached['clock'] = {
  get time() {
    return present.now().getTime()
  },
  pass: (ms) => present.set(new Date(clock.time + ms)),
}
const bed = await testBed(t, services, { time: present })
// What comes at once meets in the database, not only in the queues of one process.
await Promise.all([bed.start('payments'), bed.start('wallet')])
const created = await bed.team('alice').call(operations.gateway.createOperator, {
  input: { name: 'Book', rateLimitPerMinute: 10_000_000 },
})
const { baseUrl } = bed.services.gateway.addresses
const clients = [created.sandbox, created.production].map(
  (pair) => new OperatorClient(baseUrl, { key: pair?.key ?? '', secret: pair?.secret ?? '' }),
)
t.teardown(() => Promise.all(clients.map((client) => client.close())))

const team: Reached['team'] = (user: TeamUser, operation, input) =>
  bed.team(user).call(operation, { input: input as never })

const agreed: Reached['agreed'] = (operation, input) => bed.agreed(operation, { input: input as never })

const met = new Map<string, number>()

const provider = { id: 'prv_of_the_book', bodyDigest: '0'.repeat(64) }
await agreed(operations.players.setGameProvider, { gameId: stakedGame, providerId: provider.id, reason })
const { brands } = await bed.team('alice').call(operations.gateway.getOperator, { input: { name: created.operatorId } })
const brandId = brands.find(({ environment }) => environment === 'sandbox')?.id ?? ''
const sandbox = { ...bed.scope({ operatorId: created.operatorId, brandId }), provider }
const spin: Reached['spin'] = async (fields) => {
  const spun = bed.rpc.call(operations.players.playSpin, { scope: sandbox, input: fields as never })
  const outcome = String((await refusal(spun)) ?? 'done')
  met.set(`spin ${outcome}`, (met.get(`spin ${outcome}`) ?? 0) + 1)
  return outcome
}

async function begin(isSandbox: boolean): Promise<{ model: Book; real: Reached }> {
  const operator = clients[isSandbox ? 0 : 1] as OperatorClient
  const real: Reached = { operator, clock, team, agreed, spin, met, last: null }
  const model = new Book(isSandbox)
  for (const _ of [1, 2]) await register(model, real)
  for (const player of model.players) await decideKyc(model, real, player, 'aprovado')
  return { model, real }
}

t.test('whatever operators and the team do, in any order and at once, the system and the book agree', async (t) => {
  t.teardown(() => t.comment(`outcomes: ${[...met].map(([name, count]) => `${name} ${count}`).join(', ')}`))
  const property = fc.asyncProperty(
    fc.boolean(),
    fc.commands(steps, { maxCommands: 60, size: 'max', disableReplayLog: true }),
    async (isSandbox, commands) => {
      const { model, real } = await begin(isSandbox)
      await fc.asyncModelRun(() => ({ model, real }), commands)
      await compareAll(model, real)
    },
  )
  await holdsForRandom(t, property, { runsOfProof: 12 })
})

t.test('and a reconciliation finds no difference', async (t) => {
  t.same((await reconcile(bed.team('alice'))).differences, [])
})
