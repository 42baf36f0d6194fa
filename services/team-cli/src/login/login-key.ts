import { execFile } from 'node:child_process'
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import type { JWK } from 'jose'
import { say } from '../output.ts'

/** Where the private key of a login is between commands. In clear it stands in the file, and its login lives for an hour. */
export type KeptKey =
  | { readonly in: 'keychain' }
  | { readonly in: 'sealed'; readonly salt: string; readonly nonce: string; readonly sealed: string }
  | { readonly in: 'clear'; readonly privateKey: JWK }

/**
 * Keeps a key as well as this machine can: in the system's keychain, else under a passphrase, else in clear.
 * @param name of the key
 */
export async function keepKey(name: string, privateKey: JWK): Promise<KeptKey> {
  const text = JSON.stringify(privateKey)
  // What does not give it back keeps nothing: there may be no session of a desktop, or nobody to unlock it.
  await keychain?.write(name, Buffer.from(text).toString('base64url'))
  if ((await fromKeychain(name)) === text) return { in: 'keychain' }
  const passphrase = process.stdin.isTTY
    ? await ask('Passphrase for this login (none: the login lives for an hour): ')
    : ''
  return passphrase === '' ? { in: 'clear', privateKey } : sealed(text, passphrase)
}

/** @throws when this machine does not give it, or the passphrase is another one */
export async function openKey(name: string, kept: KeptKey): Promise<JWK> {
  if (kept.in === 'clear') return kept.privateKey
  if (kept.in === 'sealed') return JSON.parse(await opened(kept))
  const text = await fromKeychain(name)
  if (text === undefined) throw new Error("this machine's keychain does not give the key of the login: log in again")
  return JSON.parse(text)
}

export async function forgetKey(name: string, kept: KeptKey): Promise<void> {
  if (kept.in === 'keychain') await keychain?.remove(name)
}

const cipher = 'aes-256-gcm'
const tagBytes = 16
/** Some 128 MiB and half a second for each guess. */
const cost = { N: 131_072, r: 8, p: 1, maxmem: 160 * 1_024 * 1_024 }
const derived = promisify<string, Buffer, number, typeof cost, Buffer>(scrypt)

async function sealed(text: string, passphrase: string): Promise<KeptKey> {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const sealing = createCipheriv(cipher, await derived(passphrase, salt, 32, cost), nonce)
  const bytes = Buffer.concat([sealing.update(text), sealing.final(), sealing.getAuthTag()])
  const [saltText = '', nonceText = '', sealedText = ''] = [salt, nonce, bytes].map((part) =>
    part.toString('base64url'),
  )
  return { in: 'sealed', salt: saltText, nonce: nonceText, sealed: sealedText }
}

async function opened(kept: Extract<KeptKey, { in: 'sealed' }>): Promise<string> {
  if (!process.stdin.isTTY) throw new Error('the login is kept under a passphrase, and nobody is here to type it')
  const key = await derived(await ask('Passphrase of your login: '), Buffer.from(kept.salt, 'base64url'), 32, cost)
  const bytes = Buffer.from(kept.sealed, 'base64url')
  const opening = createDecipheriv(cipher, key, Buffer.from(kept.nonce, 'base64url'), { authTagLength: tagBytes })
  opening.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return opening.update(bytes.subarray(0, -tagBytes), undefined, 'utf8') + opening.final('utf8')
  } catch (cause) {
    throw new Error('the passphrase is not that of your login', { cause })
  }
}

/** What is typed is not shown. */
async function ask(question: string): Promise<string> {
  say(question)
  const silent = new Writable({ write: (_text, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  const { promise: left, reject } = Promise.withResolvers<never>()
  terminal.once('SIGINT', () => terminal.close())
  terminal.once('close', () => reject(new Error('not done')))
  try {
    return await Promise.race([terminal.question(''), left])
  } finally {
    terminal.close()
    say('\n')
  }
}

const service = 'backoffice-team'

/** What keeps secrets for whoever is logged in at this machine. Secrets go through standard input: everybody sees arguments. */
const keychains = {
  linux: {
    write: (name: string, secret: string) =>
      run('secret-tool', ['store', '--label', 'back office', 'service', service, 'login', name], secret),
    read: (name: string) => run('secret-tool', ['lookup', 'service', service, 'login', name]),
    remove: (name: string) => run('secret-tool', ['clear', 'service', service, 'login', name]),
  },
  darwin: {
    write: (name: string, secret: string) =>
      run('security', ['-i'], `add-generic-password -U -s ${service} -a ${name} -w ${secret}\n`),
    read: (name: string) => run('security', ['find-generic-password', '-s', service, '-a', name, '-w']),
    remove: (name: string) => run('security', ['delete-generic-password', '-s', service, '-a', name]),
  },
}
const keychain = Object.entries(keychains).find(([platform]) => platform === process.platform)?.[1]

async function fromKeychain(name: string): Promise<string | undefined> {
  const secret = (await keychain?.read(name))?.trim()
  return secret ? Buffer.from(secret, 'base64url').toString() : undefined
}

/** A person may have to unlock it. */
const patienceMs = 60_000

/** @returns what it writes; undefined when it fails, or is not there */
function run(command: string, words: readonly string[], input = ''): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const child = execFile(command, words, { timeout: patienceMs }, (error, stdout) =>
    resolve(error === null ? stdout : undefined),
  )
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  return promise
}
