// proof: the identity provider of `npm start`. Whoever calls in a shared system has logged in there.

import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  identityOf,
  PersonSigner,
  type IdentitySettings as ServiceSettings,
  TeamVerifier,
} from '@backoffice/team-access/identity'
import { temporaryFolder } from '@backoffice/test-kit'
import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import { logIn } from '../src/identity/log-in.ts'
import { type IdentitySettings, identityEnvironment, teamPeople } from '../src/identity/people.ts'
import { identitySettings } from '../src/secrets.ts'
import { startIdentityProvider } from '../src/services.ts'

const clientSecret = 'a secret of the console'

async function start(t: Test, dir: string): Promise<IdentitySettings & { stop(): Promise<unknown> }> {
  const file = join(dir, 'identity.json')
  const settings = await identitySettings(file, clientSecret)
  const child = await startIdentityProvider(file, settings, join(dir, 'identity.log'))
  t.teardown(() => child.stop())
  return { ...settings, stop: () => child.stop() }
}

/** As a service has it from `npm start`. */
function verifierOf(issuer: string): TeamVerifier {
  const defaults = {
    TEAM_AUDIENCES: 'backoffice-console,backoffice-cli',
    TEAM_GROUPS_CLAIM: 'groups',
    TEAM_SESSION_HOURS: 10,
  }
  return new TeamVerifier(identityOf({ ...defaults, ...identityEnvironment(issuer, deployment) } as ServiceSettings))
}

const deployment = 'http://console.test'
const call = { operation: 'gateway.listOperators', operationId: 'opn_1', input: {} }

t.test('a running provider', async (t) => {
  const dir = temporaryFolder(t)
  const provider = await start(t, dir)
  const { issuer } = provider

  await t.test('everybody can log in without a browser, and a service knows them with their roles', async (t) => {
    const verifier = verifierOf(issuer)
    for (const person of teamPeople) {
      const before = Math.floor(Date.now() / 1_000)
      const { idToken, key } = await logIn(issuer, person.id)
      const proof = await new PersonSigner({ idToken, key, deployment, tool: 'command line' }).sign(call)
      const caller = await verifier.verify(call, proof, new Date())
      t.match(caller, { kind: 'person', name: person.id, session: key.thumbprint })
      t.same([...caller.roles].sort(), [...person.roles].sort())
      t.ok((caller.loggedInAt?.getTime() ?? 0) / 1_000 >= before, 'the login is new')
      t.match(decodeJwt(idToken), { email: `${person.id}@backoffice.example`, name: person.name, email_verified: true })
    }
  })

  await t.test('after a restart it has the same address and keys, so that sessions go on', async (t) => {
    const { idToken, key } = await logIn(issuer, 'alice')
    await provider.stop()
    const again = await start(t, dir)
    t.equal(again.issuer, issuer)
    const proof = await new PersonSigner({ idToken, key, deployment, tool: 'command line' }).sign(call)
    t.match(await verifierOf(issuer).verify(call, proof, new Date()), { name: 'alice' })
  })
})

t.test('its keys are for nobody else to read; a port that is taken is replaced', async (t) => {
  const file = join(t.testdir(), 'identity.json')
  const first = await identitySettings(file, clientSecret)
  t.equal(statSync(file).mode & 0o077, 0)
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(first.port, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const second = await identitySettings(file, clientSecret)
  t.not(second.port, first.port)
  t.same(second.signingKey, first.signingKey)
  t.same(JSON.parse(readFileSync(file, 'utf8')), second)
})

t.test("it does not start where nobody said that this is a developer's machine", async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'identity.json')
  await identitySettings(file, clientSecret)
  const main = fileURLToPath(new URL('../src/identity/main.ts', import.meta.url))
  const { DEVELOPMENT: _, ...env } = process.env
  await t.rejects(promisify(execFile)(process.execPath, [main, file], { env }), /DEVELOPMENT=true only/)
})
