import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileCache } from './services.ts'

const program = fileURLToPath(new URL('../../migrator/src/main.ts', import.meta.url))

/** Where the migration Job works, and with which rights. */
export interface Backends {
  /** Of the database, with a role that may create roles and owns the database. */
  readonly administratorUrl: string
  /** Of the wallet's own, where it has one. */
  readonly walletUrl: string | undefined
  readonly databaseRoles: Readonly<Record<string, string>>
  readonly natsUrl: string
  /** Of the user that makes the stream. */
  readonly streamsPassword: string
}

/**
 * Runs the program that production's migration Job runs: it prepares the database and the stream.
 * @throws what it printed, when it failed
 */
export async function prepareBackends(backends: Backends): Promise<void> {
  const variables = Object.entries(backends.databaseRoles).map(([role, password]) => [
    `DATABASE_PASSWORD_${role.toUpperCase()}`,
    password,
  ])
  const env = {
    ...process.env,
    DEVELOPMENT: 'true',
    NODE_COMPILE_CACHE: compileCache,
    ...Object.fromEntries(variables),
    ADMIN_DATABASE_URL: backends.administratorUrl,
    ADMIN_DATABASE_URL_WALLET: backends.walletUrl,
    NATS_URL: backends.natsUrl,
    NATS_PASSWORD: backends.streamsPassword,
  }
  try {
    await promisify(execFile)(process.execPath, [program], { env })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`database and stream could not be prepared:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error })
  }
}
