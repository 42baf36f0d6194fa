import { postgres } from '@backoffice/test-kit'
import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { sqlOf } from '../../src/commands/unit-of-work.ts'
import { loadConfig, serviceConfig } from '../../src/config.ts'
import { connectDatabase, inTransaction } from '../../src/database/connect.ts'

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
