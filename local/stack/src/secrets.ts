import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BrokerUser, brokerUsers, type ServiceName, serviceNames } from '@backoffice/contracts'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import type { IdentitySettings } from './identity/people.ts'
import { claimPort, freePort } from './ports.ts'
import { sharedRolePasswords } from './postgres.ts'
import { writeFileAtomically } from './stack-file.ts'

export interface StackSecrets {
  readonly postgres: string
  readonly databaseRoles: Readonly<Record<ServiceName, string>>
  readonly nats: Readonly<Record<BrokerUser, string>>
  /** `id:base64key`, for the services that keep secrets of operators or personal data. */
  readonly masterKeys: string
  readonly console: ConsoleSecrets
}

interface ConsoleSecrets {
  /** With which the console names itself at the identity provider. */
  readonly clientSecret: string
  /** Encrypts its cookies: 32 bytes in base64. */
  readonly sessionKeys: string
}

/** The secrets of one stack. They are made the first time and then read, because the stack's data depend on them. */
export function stackSecrets(dir: string): StackSecrets {
  const file = join(dir, 'secrets.json')
  const kept = existsSync(file) ? read(file) : undefined
  // A stack of an earlier release has no password for a user that is new.
  if (kept?.console !== undefined && brokerUsers.every((user) => user in kept.nats)) return kept
  const secrets: StackSecrets = {
    postgres: password(),
    masterKeys: `dev:${randomBytes(32).toString('base64')}`,
    console: { clientSecret: password(), sessionKeys: randomBytes(32).toString('base64') },
    ...kept,
    databaseRoles: { ...forEach(serviceNames, password), ...kept?.databaseRoles },
    nats: { ...forEach(brokerUsers, password), ...kept?.nats },
  }
  writeFileAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`)
  return secrets
}

/** Without the passwords that people had on the broker in earlier releases. */
function read(file: string): StackSecrets {
  const { team: _people, ...secrets } = JSON.parse(readFileSync(file, 'utf8')) as StackSecrets & { team?: unknown }
  return secrets
}

// A letter first and no punctuation: safe in a URL, in a shell and in nats-server's configuration.
const password = () => `p${randomBytes(18).toString('hex')}`

/**
 * The same secrets, but with the passwords of backends that were given. Users of a given NATS server have the passwords
 * of that server.
 */
export function withGivenBackends(secrets: StackSecrets, environment: NodeJS.ProcessEnv): StackSecrets {
  const { POSTGRES_URL, NATS_URL } = environment
  const given = (own: Readonly<Record<string, string>>) => (user: string) =>
    environment[`NATS_PASSWORD_${user.toUpperCase()}`] ?? own[user] ?? ''
  return {
    ...secrets,
    ...(POSTGRES_URL === undefined ? {} : { databaseRoles: sharedRolePasswords(POSTGRES_URL) }),
    ...(NATS_URL === undefined ? {} : { nats: forEach(brokerUsers, given(secrets.nats)) }),
  }
}

function forEach<K extends string>(names: readonly K[], value: (name: K) => string): Record<K, string> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, string>
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
  port !== undefined && (await claimPort(port)) ? port : freePort()

async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'stack' }
}
