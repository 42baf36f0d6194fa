import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { startPostgres } from '../src/postgres.ts'
import { asAccount, serverAccount } from '../src/server-account.ts'

async function query(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return Object.values((await client.query(text)).rows[0] ?? {})[0]
  } finally {
    await client.end()
  }
}

/** The processes of a PostgreSQL that was killed end soon after it, and until then nobody else may use its folder. */
async function startOnceFree(options: Parameters<typeof startPostgres>[0]) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startPostgres(options)
    } catch (error) {
      if (attempt >= 20) throw error
      await setTimeout(500)
    }
  }
}

t.test('committed data survive a PostgreSQL that is killed, on the same port', async (t) => {
  const options = { dir: t.testdir(), password: 'secret' }
  const first = await startPostgres(options)
  t.teardown(() => first.child.stop())
  const port = Number(new URL(first.url).port)
  await query(first.url, 'create table kept as select 42 as answer')
  process.kill(first.child.pid, 'SIGKILL')
  await first.child.exited

  const second = await startOnceFree({ ...options, port })
  t.teardown(() => second.child.stop())
  t.equal(second.url, first.url)
  t.equal(await query(second.url, 'select answer from kept'), 42)
})

t.test('a stack keeps its data on disk; a throw-away one does not flush', async (t) => {
  for (const durable of [true, false]) {
    const server = await startPostgres({ dir: t.testdir({ [String(durable)]: {} }), password: 'secret', durable })
    t.equal(await query(server.url, 'show fsync'), durable ? 'on' : 'off')
    await server.child.stop()
  }
})

t.test('text is ordered alike on every machine', async (t) => {
  const server = await startPostgres({ dir: t.testdir(), password: 'secret', durable: false })
  t.teardown(() => server.child.stop())
  t.equal(await query(server.url, 'select datlocprovider from pg_database where datname = current_database()'), 'b')
  t.equal(
    await query(server.url, "select string_agg(x, '' order by x) from unnest(array['b', 'A', 'a', 'B']) x"),
    'ABab',
  )
})

const notRoot = userInfo().uid !== 0 && 'only root hands PostgreSQL to another account'

t.test('root starts it in a folder that nobody else may enter', { skip: notRoot }, async (t) => {
  const home = join(t.testdir(), 'home')
  mkdirSync(home)
  chmodSync(home, 0o700)
  const server = await startPostgres({ dir: join(home, 'postgres'), password: 'secret', durable: false })
  t.teardown(() => server.child.stop())
  t.equal(await query(server.url, 'select 1'), 1)
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8')
  t.notMatch(status, /^Uid:\s+0\b/m)
})

t.test('a port that is taken is an error with what PostgreSQL says', async (t) => {
  const first = await startPostgres({ dir: t.testdir({ a: {} }), password: 'secret', durable: false })
  t.teardown(() => first.child.stop())
  const port = Number(new URL(first.url).port)
  const dir = join(t.testdirName, 'b')
  mkdirSync(dir, { recursive: true })
  await t.rejects(startPostgres({ dir, password: 'other', port, durable: false }), /Address already in use/)
})

t.test('root hands a program in a private folder to another account', { skip: notRoot }, async (t) => {
  const home = join(t.testdir(), 'home')
  mkdirSync(home)
  const program = join(home, 'program')
  // As PostgreSQL does, it asks whether it can be executed before it believes in itself.
  writeFileSync(program, '#!/bin/sh\n[ -x "$0" ] && id -u\n', { mode: 0o755 })
  chmodSync(home, 0o700)
  const account = serverAccount(undefined)
  const { command, args, ...ids } = asAccount(account, program, [], home)
  t.equal(execFileSync(command, args, { ...ids, encoding: 'utf8' }).trim(), String(account?.uid))
  t.not(account?.uid, 0)
})

t.test('without root, PostgreSQL runs as ourselves', { skip: !notRoot && 'we are root' }, async (t) => {
  t.equal(serverAccount(undefined), undefined)
  t.same(asAccount(undefined, '/bin/true', ['x'], '/'), { command: '/bin/true', args: ['x'] })
})
