import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { serviceNames } from '@backoffice/contracts'
import { startThrowAwayPostgres } from '@backoffice/dev-stack'
import { prepareDatabase, type RolePasswords } from '@backoffice/migrator'
import pg from 'pg'
import t from 'tap'

t.setTimeout(180_000)

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

t.test(
  'the owner that production gives the migration job is enough: it may create roles and is no superuser',
  async (t) => {
    const dir = t.testdir({ postgres: {} })
    chmodSync(dir, 0o755)
    const server = await startThrowAwayPostgres(join(dir, 'postgres'))
    t.teardown(() => server.child.stop())
    await query(server.url, "create role backoffice_admin login createrole password 'admin'")
    await query(server.url, 'create database backoffice owner backoffice_admin')
    const url = new URL(server.url)
    Object.assign(url, { username: 'backoffice_admin', password: 'admin', pathname: '/backoffice' })

    const passwords = Object.fromEntries([...serviceNames, 'reconciler'].map((role) => [role, `of-${role}`]))
    for (const attempt of ['first', 'again']) {
      const outcome = await prepareDatabase(url.href, passwords as RolePasswords)
      t.same(
        outcome.map(({ applied }) => applied.length > 0),
        serviceNames.map(() => attempt === 'first'),
      )
    }
    Object.assign(url, { username: 'backoffice_wallet', password: 'of-wallet' })
    t.same(await query(url.href, 'select current_user as role'), [{ role: 'backoffice_wallet' }])
  },
)
