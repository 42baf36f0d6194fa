// In a process of its own: it changes the limits of all of it.

import { allOperations } from '@backoffice/contracts'
import t from 'tap'
import { bePatient, ConfigurationError, limitsMs, patiently } from '../src/index.ts'

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
