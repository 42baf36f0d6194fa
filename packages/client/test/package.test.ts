import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('..', import.meta.url))

const javascript = `
import { BackOfficeClient } from '@backoffice/client'
const client = new BackOfficeClient({ baseUrl: 'http://127.0.0.1:1/api/v1', key: 'bk_test_x', secret: 'sk_x', attemptsMax: 1 })
client.me().catch((error) => console.log(error.name))
`

const typescript = `
import type { BackOfficeClient, Deposit, WebhookEvent } from '@backoffice/client'
export const status = (deposit: Deposit): 'pending' | 'confirmed' | 'failed' => deposit.status
export const reference = (event: WebhookEvent): string => event.type === 'deposit.confirmed' ? event.data.externalReference : event.id
// @ts-expect-error a player needs more than a name
export const register = (client: BackOfficeClient) => client.registerPlayer({ name: 'Ana' })
`

/** The code of the README, with what it leaves to its reader. */
const readme = `
declare const request: { headers: Record<string, string | string[] | undefined> }
declare const rawBody: Uint8Array
declare const credit: (externalReference: string) => void
${[...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map((block) => block[1]).join('\n')}
`

t.test(
  'the packed client, installed in an empty folder, runs from JavaScript, and TypeScript and the README compile with it',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'client-pack-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const run = (command: string, args: string[], cwd = folder) =>
      execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' })
    run('npm', ['pack', '--silent', '--pack-destination', folder], root)
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }))
    run('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', `./${tarball}`])

    writeFileSync(join(folder, 'call.js'), javascript)
    t.match(run('node', ['call.js']), 'ConnectionError')

    writeFileSync(join(folder, 'call.ts'), typescript)
    const compiler = fileURLToPath(import.meta.resolve('typescript/lib/tsc.js'))
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022']
    t.doesNotThrow(() => run(process.execPath, [compiler, ...flags, 'call.ts']))

    writeFileSync(join(folder, 'readme.ts'), readme)
    const types = ['--types', 'node', '--typeRoots', join(root, '../../node_modules/@types')]
    t.doesNotThrow(() => run(process.execPath, [compiler, ...flags, ...types, 'readme.ts']))
  },
)
