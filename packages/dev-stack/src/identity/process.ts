import { fileURLToPath } from 'node:url'
import { Child } from '../child.ts'
import { compileCache } from '../services.ts'
import type { IdentitySettings } from './people.ts'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const stopTimeoutMs = 10_000

/** Starts the identity provider and waits until it answers. @param file its settings */
export function startIdentityProvider(
  file: string,
  { issuer }: IdentitySettings,
  logFile: string,
  signal?: AbortSignal,
): Promise<Child> {
  const options = {
    name: 'identity',
    command: process.execPath,
    args: ['--max-semi-space-size=1', main, file],
    env: { ...process.env, DEVELOPMENT: 'true', NODE_COMPILE_CACHE: compileCache },
    logFile,
    stopSignal: 'SIGTERM',
    stopTimeoutMs,
    signal,
  } as const
  return Child.startReady(options, (over) => answers(issuer, over))
}

async function answers(issuer: string, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, { signal })
  await response.body?.cancel()
  return response.ok
}
