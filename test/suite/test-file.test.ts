import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { runTestFile } from './test-file.ts'

const tap = import.meta.resolve('tap')
const never = new AbortController().signal

/** @returns what the runner makes of a file with these lines. */
function run(t: Test, lines: string, { stopping = never, timeoutSeconds = 60 } = {}) {
  const directory = t.testdir({ 'a.test.ts': `import t from '${tap}'\n${lines}\n` })
  const environment = { ...process.env, TAP_TIMEOUT: String(timeoutSeconds) }
  return runTestFile({ workspace: 'w', directory, path: 'a.test.ts' }, environment, stopping)
}

const passing = "t.test('passes', async (t) => { t.ok(true) })"

t.test('a file that passes', async (t) => {
  t.match(await run(t, passing), { ok: true, results: { passed: 1, failed: [] } })
})

t.test('a file with a failed test', async (t) => {
  const file = await run(t, `${passing}\nt.test('fails', async (t) => { t.equal(1, 2) })`)
  t.match(file, { ok: false, results: { passed: 1, failed: ['a.test.ts > fails'] } })
})

t.test('a file that cannot be loaded says why', async (t) => {
  const file = await run(t, "import './missing.ts'")
  t.match(file, { ok: false, results: { passed: 0, failed: ['a.test.ts'] }, errors: /missing\.ts.*exit status 1/s })
})

t.test('a file that dies', async (t) => {
  const file = await run(t, `${passing}\nt.test('dies', async () => { process.kill(process.pid, 'SIGKILL') })`)
  t.match(file, { ok: false, results: { passed: 1, failed: ['a.test.ts'] }, errors: /SIGKILL/ })
})

t.test('a file that does not end is ended after its time, and says which test was running', async (t) => {
  const waiting = "setTimeout(() => {}, 1500)\nt.test('waits', () => new Promise(() => {}))"
  const file = await run(t, `${passing}\n${waiting}`, { timeoutSeconds: 1 })
  t.match(file, { ok: false, results: { passed: 1, failed: ['a.test.ts > waits'] } })
})

t.test('what a failed file has left running is ended', async (t) => {
  const child = "spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])"
  const leaving = `const child = ${child}\nwriteFileSync('pid', String(child.pid))\nprocess.exit(1)`
  await run(t, `import { spawn } from 'node:child_process'\nimport { writeFileSync } from 'node:fs'\n${leaving}`)
  const pid = Number(readFileSync(join(t.testdirName, 'pid'), 'utf8'))
  await eventually(() => !isRunning(pid))
  t.notOk(isRunning(pid))
})

t.test('the runner can end a file early', async (t) => {
  const stopping = new AbortController()
  const file = run(t, "setInterval(() => {}, 1000)\nt.test('waits', () => new Promise(() => {}))", {
    stopping: stopping.signal,
  })
  stopping.abort()
  t.match(await file, { ok: false, results: { failed: [/^a\.test\.ts/] } })
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
