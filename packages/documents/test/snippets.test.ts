import { sharedSystem, skipWithout } from '@backoffice/test-kit'
import t from 'tap'
import { languages, testVectors } from '../src/index.ts'
import { runtimes, Workshop } from './runtimes.ts'

const shop = new Workshop()
t.teardown(() => shop.remove())
const { requests, webhooks, webhookAges } = testVectors()
const total = requests.length + webhooks.length + webhookAges.length
const system = await sharedSystem(t)
const sandbox = system.operators[0]?.sandbox ?? { key: '', secret: '' }

t.test('every language has a runtime to be tested with', async (t) => {
  t.strictSame(Object.keys(runtimes).sort(), languages.map(({ id }) => id).sort())
})

for (const { id, name } of languages) {
  const runtime = runtimes[id]
  if (runtime === undefined) continue
  const skip = skipWithout(runtime.command, runtime.debianPackage)

  t.test(`${name}: the snippets agree with every vector`, { skip }, async (t) => {
    t.equal(runtime.verifyVectors(shop).match(/verified (\d+)/)?.[1], String(total))
  })

  t.test(`${name}: the program is accepted by the running gateway`, { skip }, async (t) => {
    const env = { BASE_URL: system.baseUrl, OPERATOR_KEY: sandbox.key, OPERATOR_SECRET: sandbox.secret }
    t.match(runtime.signRequest(shop, ['GET', '/me'], env), '"isSandbox":true')
    const player = {
      externalId: `snippet-${id}`,
      name: 'João',
      email: 'a@b.co',
      cpf: '52998224725',
      birthDate: '1990-05-17',
    }
    const registered = runtime.signRequest(shop, ['POST', '/players', JSON.stringify(player), `snippet-${id}-1`], env)
    t.match(registered, `"externalId":"snippet-${id}"`)
    t.match(runtime.signRequest(shop, ['GET', `/players?externalId=snippet-${id}`], env), '"João"')
  })
}
