import { chownSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { connectDatabase, verifiedUrl } from '@backoffice/database'
import { noVault } from '@backoffice/database/vault'
import { startThrowAwayPostgres } from '@backoffice/dev-stack'
import { loadConfig } from '@backoffice/process'
import { eventually, makeCertificate, temporaryFolder } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { serviceConfig } from '../../src/settings.ts'

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
