// proof: files that crash, hang and leave things behind, which the runner's own sources alone change.
// waits: for files that hang, until their time is over.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning } from '@backoffice/local-stack'
import { patiently } from '@backoffice/process'
import { eventually } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { readSource, type TestFile } from './files.ts'
import { diagnosticsOf } from './results.ts'
import { runTestFiles, runToTheEnd } from './test-file.ts'

const never = new AbortController().signal

/** @returns what the runner makes of files with these lines, in one process. */
function runAll(t: Test, lines: readonly string[], { timeoutSeconds = 60 } = {}) {
  const [first, ...others] = made(t, lines)
  if (first === undefined) throw new Error('no files')
  return runTestFiles([first, ...others], { environment: process.env, timeoutSeconds, stopping: never })
}

function made(t: Test, files: readonly string[]): readonly TestFile[] {
  const named = files.map((lines, index) => [`${'abcd'[index]}.test.ts`, `import t from 'tap'\n${lines}\n`] as const)
  const directory = t.testdir(Object.fromEntries(named))
  return named.map(([path, text]) => ({ workspace: 'w', directory, path, place: path, ...readSource(text) }))
}

/** @returns what the runner makes of a file with these lines. */
async function run(t: Test, lines: string, options: Parameters<typeof runAll>[2] = {}) {
  const [file] = await runAll(t, [lines], options)
  return file
}

/** Time enough to start and to pass. */
const timeoutSeconds = patiently(1_000) / 1_000
const waiting = `setTimeout(() => {}, ${timeoutSeconds * 1_500})\nt.test('waits', () => new Promise(() => {}))`

const passing = "t.test('passes', async (t) => { t.ok(true) })"

t.test('what passed, failed and was skipped is counted and named, whatever group it stands in', async (t) => {
  const group = `t.test('group', async (t) => {
    ${passing}
    t.test('fails', async (t) => { t.equal(1, 2) })
    t.test('needs an engine', { skip: 'no engine answers' }, async () => {})
  })`
  const file = await run(t, `${group}\nt.test('not written', { todo: true }, async () => {})`)
  t.equal(file?.ok, false)
  t.same(file?.results, {
    passed: 1,
    failed: ['a.test.ts > group > fails'],
    skipped: [
      { name: 'a.test.ts > group > needs an engine', reason: 'no engine answers' },
      { name: 'a.test.ts > not written', reason: 'to do' },
    ],
  })
  t.match(diagnosticsOf(file?.tap ?? '').join(' '), /not ok .*diff: .*not ok .*fails/)
})

t.test('a file of assertions alone is one test, and one that says nothing has failed', async (t) => {
  t.match(await run(t, 't.ok(true)\nt.ok(true)'), { ok: true, results: { passed: 1 } })
  t.match(await run(t, 'process.exit(0)'), { ok: false, results: { failed: ['a.test.ts'] } })
})

t.test('a file that does not end is ended after its time, and says which test was running', async (t) => {
  const file = await run(t, `${passing}\n${waiting}`, { timeoutSeconds })
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

t.test('each of several files in a process has its own results, and its own fault', async (t) => {
  const failing = `${passing}\nt.test('fails', async (t) => { t.equal(1, 2) })`
  const files = await runAll(t, [passing, failing, "import './missing.ts'", passing])
  t.match(files, [
    { path: 'a.test.ts', ok: true, errors: '', results: { passed: 1, failed: [] } },
    { path: 'b.test.ts', ok: false, results: { passed: 1, failed: ['b.test.ts > fails'] } },
    { path: 'c.test.ts', ok: false, tap: /missing\.ts/ },
    { path: 'd.test.ts', ok: true, errors: '', results: { passed: 1, failed: [] } },
  ])
})

t.test('a file that is skipped as a whole is named with its reason, alone and among others', async (t) => {
  const planned = "t.plan(0, 'nothing here')"
  const skipped = {
    ok: true,
    results: { passed: 0, failed: [], skipped: [{ name: /test.ts$/, reason: 'nothing here' }] },
  }
  t.match(await run(t, planned), skipped)
  const files = await runAll(t, [passing, planned, passing])
  t.match(files, [
    { path: 'a.test.ts', ok: true },
    { path: 'b.test.ts', ...skipped },
    { path: 'c.test.ts', ok: true },
  ])
  t.equal(files.length, 3)
})

t.test('what one of several files tears down has ended before the next begins', async (t) => {
  const tidying = `t.teardown(() => writeFileSync('ended', ''))\n${passing}`
  const after = "t.test('comes after', async (t) => { t.ok(existsSync('ended')) })"
  const fs = "import { existsSync, writeFileSync } from 'node:fs'"
  t.match(await runAll(t, [`${fs}\n${tidying}`, `${fs}\n${after}`]), [{ ok: true }, { ok: true }])
})

t.test('the files behind one in which the process dies run in another process', async (t) => {
  const files = made(t, [passing, "process.kill(process.pid, 'SIGKILL')", passing, passing])
  const running = { environment: process.env, timeoutSeconds: 60, stopping: never }
  const finished = await runToTheEnd(files, (left) => runTestFiles(left, running), never)
  t.match(finished, [{ ok: true }, { path: 'b.test.ts', ok: false }, { ok: true }, { path: 'd.test.ts', ok: true }])
  t.equal(finished.length, 4)
})

t.test('a process that dies when all its files are through is the fault of the last', async (t) => {
  const late = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1_000)\n${passing}`
  t.match(await runAll(t, [passing, late]), [
    { path: 'a.test.ts', ok: true },
    { path: 'b.test.ts', ok: false, results: { failed: ['b.test.ts'] }, errors: /SIGKILL/ },
  ])
})

t.test('the time of one of several files is its own', async (t) => {
  t.match(await runAll(t, [waiting, passing], { timeoutSeconds }), [
    { path: 'a.test.ts', ok: false, results: { failed: ['a.test.ts > waits'] } },
    { path: 'b.test.ts', ok: true },
  ])
})
