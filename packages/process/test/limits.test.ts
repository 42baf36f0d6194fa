import { allOperations } from '@backoffice/contracts'
import t from 'tap'
import { bePatient, ConfigurationError, limitsMs, patiently } from '../src/index.ts'
import { retry, systemTimers, type Timers } from '../src/time.ts'

// Files that share the process are as patient as the machine is slow.
const before = { DEVELOPMENT: 'true', PATIENCE: String(patiently(1_000) / 1_000) }
t.teardown(() => bePatient(before))
bePatient({})

t.test('what waits for something waits longer than that may take', async (t) => {
  const rising = [
    ['connection', 'statement', 'idleTransaction', 'silence'],
    ['lock', 'migrationLock', 'migrationStatement', 'statement'],
    ['jetStream', 'eventLease', 'commandLease', 'relayLease'],
  ] as const
  for (const limits of rising) {
    const ms = limits.map((limit) => limitsMs[limit])
    t.same(
      ms,
      ms.toSorted((a, b) => a - b),
      limits.join(' <= '),
    )
  }
  for (const limit of ['connection', 'lock', 'migrationLock', 'jetStream'] as const)
    t.ok(limitsMs[limit] < limitsMs.call, `${limit}, before its caller gives up`)
  const commands = allOperations.filter(({ audience, kind }) => audience === 'internal' && kind !== 'query')
  for (const command of commands) t.ok((command.timeoutMs ?? limitsMs.call) < limitsMs.commandLease, command.id)
})

t.test('in development each limit may be so many times as long', async (t) => {
  t.teardown(() => bePatient({}))
  bePatient({ DEVELOPMENT: 'true', PATIENCE: '2.5' })
  t.equal(limitsMs.statement, 37_500)
  t.equal(patiently(2_001), 5_003)
})

t.test('a limit is never shorter, and in production never longer', async (t) => {
  for (const environment of [
    { DEVELOPMENT: 'true', PATIENCE: '0.5' },
    { DEVELOPMENT: 'true', PATIENCE: 'much' },
    { DEVELOPMENT: 'false', PATIENCE: '2' },
    { PATIENCE: '2' },
  ])
    t.throws(() => bePatient(environment), { name: ConfigurationError.name, message: /PATIENCE/ })
  t.doesNotThrow(() => bePatient({ PATIENCE: '1' }))
  t.equal(limitsMs.statement, 15_000)
})

/** Fails so often, and counts. */
function failing(times: number) {
  let runs = 0
  return { runs: () => runs, run: async () => (++runs <= times ? Promise.reject(new Error(`fault ${runs}`)) : runs) }
}

t.test('it runs until it succeeds, and the last fault is thrown when no attempt is left', async (t) => {
  const told: number[] = []
  const twice = failing(2)
  const taken = await retry(twice.run, { attemptsMax: 3, while: (_, attempt) => told.push(attempt) > 0 })
  t.equal(taken, 3)
  t.same(told, [1, 2])
  const often = failing(9)
  await t.rejects(retry(often.run, { attemptsMax: 3, while: () => true }), { message: 'fault 3' })
  t.equal(often.runs(), 3)
})

t.test('what does not pass is thrown at once', async (t) => {
  const once = failing(1)
  await t.rejects(retry(once.run, { while: () => false }), { message: 'fault 1' })
  t.equal(once.runs(), 1)
})

t.test('no attempt begins after the time is over', async (t) => {
  const always = failing(Number.POSITIVE_INFINITY)
  let ms = 0
  const timers: Timers = {
    ...systemTimers,
    monotonic: () => ms,
    setTimeout(run, pauseMs) {
      ms += pauseMs
      return setImmediate(run)
    },
  }
  await t.rejects(retry(always.run, { while: () => true, pauseMs: 20, untilMs: 70, timers }))
  t.equal(always.runs(), 4)
})
