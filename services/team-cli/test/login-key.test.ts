import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { exportSessionKey, newSessionKey } from '@backoffice/team-access/identity'
import { captured } from '@backoffice/test-kit/captured'
import type { JWK } from 'jose'
import t from 'tap'
import { forgetKey, keepKey, openKey } from '../src/login/login-key.ts'

const path = process.env.PATH
const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor
t.afterEach(() => {
  process.env.PATH = path
  Object.defineProperty(process, 'stdin', stdin)
})

/** A machine with these programs alone, and somebody who types, or nobody. */
function machine({ programs = '', types }: { readonly programs?: string; readonly types?: string }) {
  process.env.PATH = programs
  const input = Object.assign(new PassThrough(), { isTTY: types !== undefined, setRawMode: () => input })
  Object.defineProperty(process, 'stdin', { ...stdin, get: () => input })
  if (types !== undefined) input.write(`${types}\n`)
}

const newKey = async (): Promise<JWK & { d: string }> =>
  (await exportSessionKey(await newSessionKey())) as JWK & { d: string }

/** What a call ends with; what it says is not shown. */
async function quietly<T>(call: () => Promise<T>): Promise<T> {
  let result: Promise<T> | undefined
  const { stderr } = await captured(async () => {
    result = call()
    await result.catch(() => {})
  })
  t.notMatch(stderr, 'correct horse', 'what is typed is not shown')
  return result as Promise<T>
}

t.test('under a passphrase, the file without it is worth nothing', async (t) => {
  const key = await newKey()
  machine({ types: 'correct horse' })
  const kept = await quietly(() => keepKey('login-1', key))
  t.equal(kept.in, 'sealed')
  t.notMatch(JSON.stringify(kept), key.d)
  machine({ types: 'correct horses' })
  await t.rejects(
    quietly(() => openKey('login-1', kept)),
    /not that of your login/,
  )
  machine({})
  await t.rejects(openKey('login-1', kept), /nobody is here to type it/)
  machine({ types: 'correct horse' })
  t.same(await quietly(() => openKey('login-1', kept)), key)
})

t.test('without keychain and passphrase it is in clear', async (t) => {
  const key = await newKey()
  machine({ types: '' })
  t.same(await quietly(() => keepKey('login-1', key)), { in: 'clear', privateKey: key })
  machine({})
  t.same(await keepKey('login-1', key), { in: 'clear', privateKey: key })
})

const elsewhere = process.platform !== 'linux' && 'the program of Linux'

t.test("in the system's keychain, which gets the key by no argument", { skip: elsewhere }, async (t) => {
  const key = await newKey()
  // As secret-tool is used: it keeps what comes by standard input, and its last argument names it.
  const programs = t.testdir()
  const script = `#!/bin/sh
cd ${programs}
echo "$*" >> arguments
for name; do :; done
case $1 in store) read -r secret; echo "$secret" > "$name" ;; lookup) read -r s < "$name" && echo "$s" ;; *) : > "$name" ;; esac
`
  writeFileSync(join(programs, 'secret-tool'), script, { mode: 0o755 })
  machine({ programs })
  const kept = await keepKey('login-1', key)
  t.same(kept, { in: 'keychain' })
  t.same(await openKey('login-1', kept), key)
  const words = readFileSync(join(programs, 'arguments'), 'utf8')
  t.match(words, /store .*login-1/)
  t.notMatch(words, Buffer.from(JSON.stringify(key)).toString('base64url').slice(0, 40))
  await forgetKey('login-1', kept)
  await t.rejects(openKey('login-1', kept), /does not give the key/)
})

t.test('a keychain that does not give it back keeps nothing', { skip: elsewhere }, async (t) => {
  const programs = t.testdir()
  writeFileSync(join(programs, 'secret-tool'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  machine({ programs })
  t.equal((await keepKey('login-1', await newKey())).in, 'clear')
})
