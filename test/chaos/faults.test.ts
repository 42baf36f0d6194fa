import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { Link, reset } from './link.ts'

const hourMs = 3_600_000

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

t.test('a link carries bytes, holds them back, and is cut', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const link = await Link.open((server.address() as AddressInfo).port)
  t.teardown(async () => {
    await link.close()
    server.close()
  })
  const open = async (): Promise<{ socket: Socket; heard: () => string }> => {
    const socket = connect(link.port, '127.0.0.1')
    await once(socket, 'connect')
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    return { socket, heard: () => text }
  }
  const held = await open()
  held.socket.write('one ')
  await eventually(() => held.heard() === 'one ')

  link.hold()
  held.socket.write('two ')
  const late = await open()
  late.socket.write('late')
  // Another way to the same server is quicker than what is held back.
  const beside = connect((server.address() as AddressInfo).port, '127.0.0.1')
  beside.write('beside')
  await once(beside, 'data')
  beside.destroy()
  t.same([held.heard(), late.heard()], ['one ', ''])
  link.release()
  await eventually(() => held.heard() === 'one two ' && late.heard() === 'late')

  const errors = [held, late].map(({ socket }) => once(socket, 'error').then(([{ code }]) => code))
  link.cut()
  t.same(await Promise.all(errors), ['ECONNRESET', 'ECONNRESET'])
})

t.test('a connection that is just ending is closed when its link is cut', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  const errors: unknown[] = []
  socket.on('error', (error) => errors.push(error))
  socket.end('last words')
  reset(socket)
  await once(socket, 'close')
  t.same(errors, [])
})
