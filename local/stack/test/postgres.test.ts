// proof: servers as `npm start` and every run of the tests start them.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { eventually, temporaryFolder } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { asAccount, serverAccount, startPostgres } from '../src/postgres.ts'

async function query(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return Object.values((await client.query(text)).rows[0] ?? {})[0]
  } finally {
    await client.end()
  }
}

const notRoot = userInfo().uid !== 0 && 'only root hands PostgreSQL to another account'

t.test('committed data survive a PostgreSQL that is killed, on the same port', async (t) => {
  const options = { dir: temporaryFolder(t), password: 'secret' }
  const first = await startPostgres(options)
  t.teardown(() => first.child.stop())
  t.equal(await query(first.url, 'show fsync'), 'on', 'a stack keeps its data on disk')
  const port = Number(new URL(first.url).port)
  await query(first.url, 'create table kept as select 42 as answer')
  process.kill(first.child.pid, 'SIGKILL')
  await first.child.exited

  // The processes of a PostgreSQL that was killed end soon after it, and until then nobody else may use its folder.
  const second = await eventually(() => startPostgres({ ...options, port }))
  t.teardown(() => second.child.stop())
  t.equal(second.url, first.url)
  t.equal(await query(second.url, 'select answer from kept'), 42)
})

t.test('a throw-away server', async (t) => {
  const home = join(temporaryFolder(t), 'home')
  mkdirSync(home, { mode: 0o700 })
  const options = { dir: join(home, 'postgres'), password: 'secret', durable: false }
  const { url, child } = await startPostgres(options)
  t.teardown(() => child.stop())

  await t.test('neither flushes nor vacuums by itself', async (t) => {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum'])
      t.equal(await query(url, `show ${setting}`), 'off', setting)
  })

  await t.test('orders text as on every machine', async (t) => {
    t.equal(await query(url, 'select datlocprovider from pg_database where datname = current_database()'), 'b')
    t.equal(await query(url, "select string_agg(x, '' order by x) from unnest(array['b', 'A', 'a', 'B']) x"), 'ABab')
  })

  await t.test('is started by root in a folder that nobody else may enter', { skip: notRoot }, async (t) => {
    t.notMatch(readFileSync(`/proc/${child.pid}/status`, 'utf8'), /^Uid:\s+0\b/m)
  })

  await t.test('whose port is taken says so in the words of PostgreSQL', async (t) => {
    await child.stop()
    const port = Number(new URL(url).port)
    const other = createServer().listen(port, '127.0.0.1')
    t.teardown(() => other.close())
    await once(other, 'listening')
    await t.rejects(startPostgres({ ...options, port }), /Address already in use/)
  })
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
