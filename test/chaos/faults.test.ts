// proof: a tool of chaos.test.ts, which it serves alone.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { hourMs } from '@backoffice/process'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'

t.test('a clock steps while its process runs, and is off from the start of the next', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-clock-'))
  const file = join(dir, 'clock')
  writeFileSync(file, String(5 * hourMs))
  const clock = fileURLToPath(new URL('./steppable-clock.ts', import.meta.url))
  const say = 'console.log([Date.now(), new Date().getTime(), Date.parse(Date()), new Date(7).getTime()].join())'
  const child = spawn(
    process.execPath,
    ['--import', clock, '--eval', `process.stdin.on('data', () => ${say}); console.log('ready')`],
    { env: { ...process.env, CHAOS_CLOCK_FILE: file }, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill()
    await exited
    rmSync(dir, { recursive: true, force: true })
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  /** Whole hours, by each way to ask for the time. */
  const offsets = async () => {
    child.stdin.write('?')
    const { value } = await lines.next()
    const [now, date, text, given] = String(value).split(',').map(Number)
    t.equal(given, 7, 'a date that is given stays')
    return [now, date, text].map((time) => Math.round(((time ?? 0) - Date.now()) / hourMs))
  }
  t.same(await offsets(), [5, 5, 5])
  writeFileSync(file, String(-2 * hourMs))
  child.kill('SIGUSR2')
  t.same(await eventually(async () => (await offsets())[0] === -2), true)
})
