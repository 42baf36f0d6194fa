import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { isRunning } from './is-running.ts'

const childModule = fileURLToPath(new URL('../src/child.ts', import.meta.url))

/** A parent that starts one child under guard, prints its process number and waits to be killed. */
const parentProgram = `
  const { Child } = await import(${JSON.stringify(childModule)})
  const child = await Child.start({
    name: 'sleeper', command: 'sleep', args: ['300'], env: process.env,
    logFile: '/dev/null', stopSignal: 'SIGTERM', stopTimeoutMs: 1000,
  })
  console.log(child.pid)
  setInterval(() => {}, 1000)
`

t.test('a child does not outlive a parent that is killed with SIGKILL', async (t) => {
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', parentProgram], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  t.ok(isRunning(pid))
  parent.kill('SIGKILL')
  t.ok(await eventually(() => !isRunning(pid)))
})
