import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { Child } from '../src/child.ts'
import { SupervisedProcess } from '../src/supervisor.ts'

const sleeper = () =>
  Child.start({
    name: 'sleeper',
    command: 'sleep',
    args: ['300'],
    env: process.env,
    logFile: '/dev/null',
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 1_000,
  })

t.test('a process that dies is started again, and its new number is told', async (t) => {
  const pids: number[] = []
  const troubles: string[] = []
  const supervised = new SupervisedProcess({
    name: 'sleeper',
    start: sleeper,
    onRunning: (pid) => pids.push(pid),
    onTrouble: (message) => troubles.push(message),
  })
  await supervised.start()
  t.teardown(() => supervised.stop())

  process.kill(pids[0] as number, 'SIGKILL')
  await eventually(() => pids.length === 2)
  t.match(troubles, [/sleeper ended \(SIGKILL\)/])

  process.kill(pids[1] as number, 'SIGKILL')
  await eventually(() => pids.length === 3)
})

t.test('a restart that fails is tried again', async (t) => {
  let starts = 0
  const pids: number[] = []
  const supervised = new SupervisedProcess({
    name: 'sleeper',
    start: async () => {
      starts += 1
      if (starts === 2) throw new Error('the data folder is still locked')
      return sleeper()
    },
    onRunning: (pid) => pids.push(pid),
    onTrouble: () => {},
  })
  await supervised.start()
  t.teardown(() => supervised.stop())
  process.kill(pids[0] as number, 'SIGKILL')
  await eventually(() => pids.length === 2)
  t.equal(starts, 3)
})

t.test('a first start that fails is an error', async (t) => {
  const supervised = new SupervisedProcess({
    name: 'sleeper',
    start: async () => {
      throw new Error('no such program')
    },
    onRunning: () => {},
    onTrouble: () => {},
  })
  await t.rejects(supervised.start(), /no such program/)
})

t.test('a process that is stopped is not started again', async (t) => {
  const pids: number[] = []
  const supervised = new SupervisedProcess({
    name: 'sleeper',
    start: sleeper,
    onRunning: (pid) => pids.push(pid),
    onTrouble: () => {},
  })
  await supervised.start()
  await supervised.stop()
  t.equal(pids.length, 1)
  t.throws(() => process.kill(pids[0] as number, 0))
})
