import t, { type Test } from 'tap'
import { Child } from '../src/child.ts'

/** A program that is deaf to `ignored`, and says by its status that it was asked to end at once. */
async function started(t: Test, ignored: string) {
  const child = await Child.start({
    name: 'deaf program',
    command: '/bin/sh',
    args: ['-c', `trap 'exit 3' QUIT; trap '' ${ignored}; echo ready; while :; do sleep 0.1; done`],
    env: process.env,
    logFile: `${t.testdir({})}/log`,
    stopSignal: 'SIGINT',
    stopTimeoutMs: 200,
    abortSignal: 'SIGQUIT',
  })
  t.teardown(() => child.stop())
  await child.waitUntil(async () => child.logTail() === 'ready', 30_000)
  return child
}

t.test('a program that does not finish in time is asked to end its processes and itself at once', async (t) => {
  t.same(await (await started(t, 'INT')).stop(), { code: 3, signal: null })
})

t.test('a program that hears nothing is killed', async (t) => {
  t.same(await (await started(t, 'INT QUIT')).stop(), { code: null, signal: 'SIGKILL' })
})
