import { type AddressInfo, connect, createServer } from 'node:net'
import { postgres } from '@backoffice/test-kit'
import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { sqlOf } from '../../src/commands/unit-of-work.ts'
import { loadConfig, serviceConfig } from '../../src/config.ts'
import { connectDatabase, inTransaction } from '../../src/database/connect.ts'
import { endSilentConnections } from '../../src/database/lost-connections.ts'

t.test('a connection that breaks within a transaction gives its place in the pool back', async (t) => {
  const url = await postgres()
  const config = loadConfig(serviceConfig, { DATABASE_URL: url, DATABASE_POOL_MAX: '1', NATS_URL: 'nats://unused' })
  const orm = await connectDatabase('webhooks', config, [])
  const administrator = new pg.Client({ connectionString: url })
  await administrator.connect()
  t.teardown(() => administrator.end())
  const broken = inTransaction(orm, async (em) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(sqlOf(em))
    await administrator.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    await sql`select 1`.execute(sqlOf(em))
  })
  await t.rejects(broken)
  // The pool has one place: this waits for it.
  const answer = await inTransaction(orm, (em) => sql<{ one: number }>`select 1 as one`.execute(sqlOf(em)))
  t.same(answer.rows, [{ one: 1 }])
  await orm.close()
})

t.test('a server that says nothing any more is given up, and the next connection is another', async (t) => {
  const url = new URL(await postgres())
  const { hostname: host, port } = url
  let lost = false
  // As behind a machine that was switched off: what is sent arrives nowhere, and nobody says so.
  const proxy = createServer((client) => {
    const server = connect(Number(port), host)
    client.on('data', (chunk) => lost || server.write(chunk))
    server.on('data', (chunk) => lost || client.write(chunk))
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  url.port = String((proxy.address() as AddressInfo).port)
  const pool = new pg.Pool({ connectionString: url.href, max: 1 })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  endSilentConnections(pool, 300)
  await pool.query('select 1')
  lost = true
  await t.rejects(pool.query('select 1'), /silent|terminated/)
  lost = false
  t.same((await pool.query('select 1 as one')).rows, [{ one: 1 }])
})
