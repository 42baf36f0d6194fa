import { chownSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { connectDatabase, type Db, verifiedUrl } from '@backoffice/database'
import { endSilentConnections } from '@backoffice/database/testing'
import { noVault } from '@backoffice/database/vault'
import { startThrowAwayPostgres } from '@backoffice/local-stack'
import { loadConfig } from '@backoffice/process'
import { eventually, makeCertificate, postgres, type Teardown, temporaryFolder } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { serviceConfig } from '../../src/settings.ts'
import { breakingLine } from '../breaking-line.ts'

const url = await postgres()
const administrator = new pg.Client({ connectionString: url })
await administrator.connect()
t.teardown(() => administrator.end())

/** A pool of one place: whoever comes after a lost connection waits for that place. */
async function poolOfOne(t: Teardown) {
  const config = loadConfig(serviceConfig, { DATABASE_URL: url, DATABASE_POOL_MAX: '1', NATS_URL: 'nats://unused' })
  const db = await connectDatabase('webhooks', config, { vault: noVault })
  t.teardown(() => db.close())
  return db
}

async function terminate(db: Db): Promise<void> {
  const [row] = await db<{ pid: number }>`select pg_backend_pid() as pid`
  await administrator.query('select pg_terminate_backend($1)', [row?.pid])
}

for (const [when, next] of [
  ['and the next statement fails', (db: Db) => db`select 1`],
  ['and several statements are on their way', (db: Db) => Promise.all([db`select 1`, db`select 2`, db`select 3`])],
  ['and nothing but the commit is left', async () => {}],
] as const) {
  t.test(`a connection breaks within a transaction, ${when}: its place in the pool is free again`, async (t) => {
    const db = await poolOfOne(t)
    for (let round = 0; round < 3; round++) {
      const broken = db.transaction(async (tx) => {
        await terminate(tx)
        await next(tx)
      })
      await t.rejects(broken)
      t.same(await db.transaction((tx) => tx`select 1 as one`), [{ one: 1 }])
    }
  })
}

t.test('a connection breaks while nobody uses it: the next user gets another', async (t) => {
  const db = await poolOfOne(t)
  await terminate(db)
  await eventually(async () => (await db`select 1`).length === 1)
  t.same(await db`select 1 as one`, [{ one: 1 }])
})

t.test('a connection to a server that writes no more is not used again', async (t) => {
  const db = await poolOfOne(t)
  await db`set default_transaction_read_only = on`
  await db.transaction((tx) => tx`create temporary table written ()`)
  t.same(await db`select count(*)::int as count from written`, [{ count: 0 }])
})

t.test('a server that says nothing any more is given up, and the next connection is another', async (t) => {
  // As behind a machine that was switched off: what is sent arrives nowhere, and nobody says so.
  let lost = false
  const over = await breakingLine(t, { to: url, fate: () => (lost ? 'lose' : 'pass') })
  const pool = new pg.Pool({ connectionString: over, max: 1 })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  endSilentConnections(pool, 300)
  // A slow server is silent for longer now and then.
  const untilAnswered = () => eventually(async () => (await pool.query('select 1 as one')).rows[0].one === 1)
  await untilAnswered()
  lost = true
  await t.rejects(pool.query('select 1'), /silent|terminated/)
  lost = false
  t.ok(await untilAnswered())
})

const dir = temporaryFolder(t)
const [server, stranger] = [await makeCertificate(dir, 'server'), await makeCertificate(dir, 'stranger')]

t.test('with DATABASE_CA_FILE the connection is TLS, and only to whom the authority vouches for', async (t) => {
  const postgres = await startThrowAwayPostgres(join(dir, 'postgres'), 20)
  t.teardown(() => postgres.child.stop())
  const { uid, gid } = statSync(join(dir, 'postgres/data'))
  chownSync(server.keyFile, uid, gid)
  const administrator = new pg.Client({ connectionString: postgres.url })
  await administrator.connect()
  for (const [name, value] of [
    ['ssl_cert_file', server.certFile],
    ['ssl_key_file', server.keyFile],
    ['ssl', 'on'],
  ])
    await administrator.query(`alter system set ${name} = '${value}'`)
  await administrator.query('select pg_reload_conf()')
  await eventually(async () => (await administrator.query('show ssl')).rows[0].ssl === 'on')
  await administrator.end()

  // By name: PostgreSQL's driver verifies no certificate for an address.
  const url = postgres.url.replace('127.0.0.1', 'localhost')
  const connect = (caFile?: string) => {
    const given = { DATABASE_URL: url, NATS_URL: 'nats://unused', DATABASE_CA_FILE: caFile }
    return connectDatabase('wallet', loadConfig(serviceConfig, given), { vault: noVault })
  }
  const db = await connect(server.certFile)
  t.teardown(() => db.close())
  t.same(await db`select ssl from pg_stat_ssl where pid = pg_backend_pid()`, [{ ssl: true }])
  const other = await connect(stranger.certFile)
  t.teardown(() => other.close())
  await t.rejects(other`select 1`, /self-signed|certificate/)
  const byUrl = new pg.Client({ connectionString: verifiedUrl(url, stranger.certFile) })
  await t.rejects(byUrl.connect(), /self-signed|certificate/)
})
