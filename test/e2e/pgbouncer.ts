import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@backoffice/dev-stack'
import {
  skipWithout,
  startProcess,
  type Teardown,
  temporaryFolder,
  toolPath,
  unlessRequired,
} from '@backoffice/test-kit'
import pg from 'pg'

const env = { ...process.env, PATH: toolPath }
/** The first that knows prepared statements in transaction mode. */
const versionMin = 21

/** Why PgBouncer cannot be had, or false. */
export function pgBouncerIsMissing(): string | false {
  const missing = skipWithout('pgbouncer', 'pgbouncer')
  if (missing !== false) return missing
  const [, minor] = /PgBouncer 1\.(\d+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8', env })) ?? []
  return unlessRequired(Number(minor) < versionMin && `PgBouncer 1.${minor} is older than 1.${versionMin}`)
}

/** A login of PostgreSQL, as its URL says it. */
const loginOf = (url: string) => {
  const { username, password } = new URL(url)
  return [decodeURIComponent(username), decodeURIComponent(password)]
}

/**
 * Runs PgBouncer in transaction mode until the test ends, with fewer connections than a service wants.
 * @param logins URLs of those who may connect
 * @returns how a URL of PostgreSQL reads when it leads through PgBouncer
 */
export async function startPgBouncer(t: Teardown, logins: readonly string[]): Promise<(url: string) => string> {
  const [first = ''] = logins
  const { hostname, port } = new URL(first)
  const listenPort = await freePort()
  const dir = temporaryFolder(t)
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0
  writeFileSync(
    join(dir, 'users.txt'),
    logins
      .map(
        (url) =>
          `${loginOf(url)
            .map((text) => JSON.stringify(text))
            .join(' ')}\n`,
      )
      .join(''),
  )
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${dir}/users.txt
pool_mode = transaction
max_prepared_statements = 200
default_pool_size = 2
max_client_conn = 500
${isRoot ? 'user = nobody' : ''}
`,
  )
  const { until } = startProcess(t, ['pgbouncer', join(dir, 'pgbouncer.ini')], { env })
  const through = (url: string) => {
    const changed = new URL(url)
    changed.host = `127.0.0.1:${listenPort}`
    return changed.href
  }
  await until(() => {
    const client = new pg.Client({ connectionString: through(first) })
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    )
  })
  return through
}
