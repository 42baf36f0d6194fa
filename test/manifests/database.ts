import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '@backoffice/dev-stack'
import { type CertificateFiles, eventually } from '@backoffice/test-kit'
import pg from 'pg'

export interface Database {
  readonly port: number
  /** Roles of ours that are connected, and whether over TLS. */
  connections(): Promise<readonly { readonly role: string; readonly ssl: boolean }[]>
  stop(): Promise<unknown>
}

const connectionsNow = `
  select distinct usename as role, ssl from pg_stat_activity join pg_stat_ssl using (pid)
  where usename like 'backoffice\\_%' order by usename, ssl`

/**
 * PostgreSQL as production has it for the services: TLS, and a database whose owner may create roles and is no superuser.
 */
export async function startDatabase(
  dir: string,
  { ownerPassword, ...certificate }: CertificateFiles & { readonly ownerPassword: string },
): Promise<Database> {
  const { administrator, ...database } = await startServerOverTls(dir, certificate)
  await administrator.query(`create role backoffice_admin login createrole password '${ownerPassword}'`)
  await administrator.query('create database backoffice owner backoffice_admin')
  return database
}

/** PostgreSQL as somebody else runs it: nothing is there but a user who may make roles and databases. */
export async function startManagedDatabase(
  dir: string,
  { user, password, ...certificate }: CertificateFiles & { readonly user: string; readonly password: string },
): Promise<Database> {
  const { administrator, ...database } = await startServerOverTls(dir, certificate)
  await administrator.query(`create role ${user} login createrole createdb password '${password}'`)
  return database
}

async function startServerOverTls(dir: string, { certFile, keyFile }: CertificateFiles) {
  const folder = join(dir, 'postgres')
  mkdirSync(folder)
  chmodSync(dir, 0o755)
  chmodSync(folder, 0o755)
  // Production's programs refuse one that waits for no disk.
  const server = await startPostgres({ dir: folder, password: 'administrator' })
  const { uid, gid } = statSync(join(folder, 'data'))
  // PostgreSQL wants the key to be its own.
  chownSync(keyFile, uid, gid)
  const administrator = new pg.Client({ connectionString: server.url })
  await administrator.connect()
  const settings = { ssl_cert_file: certFile, ssl_key_file: keyFile, ssl: 'on' }
  for (const [name, value] of Object.entries(settings))
    await administrator.query(`alter system set ${name} = '${value}'`)
  await administrator.query('select pg_reload_conf()')
  await eventually(async () => (await administrator.query('show ssl')).rows[0].ssl === 'on')
  return {
    administrator,
    port: Number(new URL(server.url).port),
    connections: async () => (await administrator.query(connectionsNow)).rows,
    stop: async () => {
      await administrator.end()
      await server.child.stop()
    },
  }
}
