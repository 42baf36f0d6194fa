import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { exportSessionKey, importSessionKey, type SessionKey } from '@backoffice/team-identity'
import envPaths from 'env-paths'
import { decodeJwt, type JWK } from 'jose'

/** A login that is kept between commands. Whoever reads the file can act as its person until the session ends. */
export interface KeptSession {
  /** The address of the console that it is for. */
  readonly console: string
  readonly idToken: string
  readonly key: SessionKey
}

interface Written {
  readonly console: string
  readonly idToken: string
  readonly privateKey: JWK
}

/** In the folder of the person's own settings, or where TEAM_SESSION_FILE says. */
export const sessionFile = (): string =>
  process.env.TEAM_SESSION_FILE ?? join(envPaths('backoffice-team', { suffix: '' }).config, 'session.json')

export async function readSession(): Promise<KeptSession | undefined> {
  let text: string
  try {
    text = readFileSync(sessionFile(), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const { console, idToken, privateKey } = JSON.parse(text) as Written
  return { console, idToken, key: await importSessionKey(privateKey) }
}

export async function writeSession({ console, idToken, key }: KeptSession): Promise<void> {
  const file = sessionFile()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const written: Written = { console, idToken, privateKey: await exportSessionKey(key) }
  // As a new file, so that it was never readable for others, and as a whole.
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

/** @returns whether there was one */
export function removeSession(): boolean {
  try {
    rmSync(sessionFile())
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** What the ID token says about the person, as this program shows it. The services believe only what they verify. */
export function personOf(idToken: string) {
  const { sub, name, email, auth_time: authTime, iat } = decodeJwt(idToken)
  const since = typeof authTime === 'number' ? authTime : iat
  return {
    subject: sub ?? '',
    name: String(email ?? name ?? sub ?? ''),
    loggedInAt: since === undefined ? null : new Date(since * 1_000).toISOString(),
  }
}
