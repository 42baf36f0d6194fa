import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { writeFileAtomically } from '../atomic-file.ts'
import { freePort, portIsFree } from '../ports.ts'

/** What the identity provider of a stack works with. The file is kept, so that sessions survive a restart of the stack. */
export interface IdentitySettings {
  readonly port: number
  readonly issuer: string
  /** Where the provider sends people back to, and with which secret the console names itself. */
  readonly console: { readonly port: number; readonly url: string; readonly clientSecret: string }
  readonly signingKey: JWK
  readonly cookieKey: string
}

/**
 * The settings in `file`, with the same keys as before. The addresses are the same too unless somebody else has the
 * ports now.
 */
export async function identitySettings(file: string, clientSecret: string): Promise<IdentitySettings> {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as IdentitySettings) : undefined
  const port = await sameOrFree(kept?.port)
  const consolePort = await sameOrFree(kept?.console.port)
  const settings: IdentitySettings = {
    port,
    issuer: `http://127.0.0.1:${port}`,
    console: { port: consolePort, url: `http://127.0.0.1:${consolePort}`, clientSecret },
    signingKey: kept?.signingKey ?? (await newSigningKey()),
    cookieKey: kept?.cookieKey ?? randomBytes(32).toString('base64url'),
  }
  writeFileAtomically(file, `${JSON.stringify(settings, null, 2)}\n`)
  return settings
}

const sameOrFree = async (port: number | undefined): Promise<number> =>
  port !== undefined && (await portIsFree(port)) ? port : freePort()

async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'stack' }
}
