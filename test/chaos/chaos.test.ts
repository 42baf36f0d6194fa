// proof: kills, freezes and cuts off two of each service.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { hourMs } from '@backoffice/process'
import { eventually, temporaryFolder } from '@backoffice/test-kit'
import t from 'tap'
import { Random } from './random.ts'
import { expectNone, runChaos } from './run.ts'

/** As `npm run chaos` asks for. */
const minutes = Number(process.env.CHAOS_MINUTES ?? 0)
if (minutes > 0) t.setTimeout((minutes + 30) * 60_000)

t.test('whatever dies, every acknowledged effect happens once', async (t) => {
  const random = Random.of(t)
  const { problems, figures } = await runChaos(t, random, minutes)
  t.comment(JSON.stringify(figures))
  expectNone(t, problems, random)
  t.ok(figures.answered > 0)
  t.ok(figures.events > 0)
})

t.test('a clock steps while its process runs, and is off from the start of the next', async (t) => {
  const dir = temporaryFolder(t)
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
