import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileCache } from './service-command.ts'

const program = fileURLToPath(new URL('../../migrator/src/main.ts', import.meta.url))

/**
 * Runs the program that production's migration Job runs.
 * @param administratorUrl of the database, with a role that may create roles and owns the database
 * @throws what it printed, when it failed
 */
export async function migrateDatabase(
  administratorUrl: string,
  passwords: Readonly<Record<string, string>>,
): Promise<void> {
  const variables = Object.entries(passwords).map(([role, password]) => [
    `DATABASE_PASSWORD_${role.toUpperCase()}`,
    password,
  ])
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: compileCache,
    ...Object.fromEntries(variables),
    ADMIN_DATABASE_URL: administratorUrl,
  }
  try {
    await promisify(execFile)(process.execPath, [program], { env })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`the database could not be prepared:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error })
  }
}
