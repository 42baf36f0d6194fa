import { fileURLToPath } from 'node:url'
import { Child } from '../child.ts'
import { compileCache } from '../services.ts'
import type { IdentitySettings } from './people.ts'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const startTimeoutMs = 60_000
const stopTimeoutMs = 10_000

/** Starts the identity provider and waits until it answers. @param file its settings */
export async function startIdentityProvider(
  file: string,
  { issuer }: IdentitySettings,
  logFile: string,
): Promise<Child> {
  const child = await Child.start({
    name: 'identity',
    command: process.execPath,
    args: ['--max-semi-space-size=1', main, file],
    env: { ...process.env, DEVELOPMENT: 'true', NODE_COMPILE_CACHE: compileCache },
    logFile,
    stopSignal: 'SIGTERM',
    stopTimeoutMs,
  })
  try {
    await child.waitUntil(() => answers(issuer), startTimeoutMs)
  } catch (error) {
    await child.stop()
    throw error
  }
  return child
}

async function answers(issuer: string): Promise<boolean> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(5_000) })
  await response.body?.cancel()
  return response.ok
}
