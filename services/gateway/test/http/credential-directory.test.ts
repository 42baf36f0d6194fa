import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/process'
import type { ReadDb } from '@backoffice/service-runtime'
import { testBed } from '@backoffice/test-kit'
import { secretBoxFrom } from '@backoffice/vault'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { CredentialDirectory } from '../../src/http/credentials.ts'
import { gateway } from '../../src/service.ts'

const bed = await testBed(t, { gateway, players, wallet, payments, webhooks })
const { reader } = bed.services.gateway.db
let statements = 0
const counted: ReadDb = Object.assign(
  <Row extends object>(text: TemplateStringsArray, ...values: readonly unknown[]) => {
    statements += 1
    return reader<Row>(text, ...values)
  },
  reader,
)
const secrets = secretBoxFrom(loadConfig(gateway.configuration, bed.environment('gateway')) as never)
const newDirectory = (entryTtlMs?: number) => {
  statements = 0
  return new CredentialDirectory(counted, secrets, entryTtlMs)
}
const madeUp = () => `bk_live_${randomUUID().replaceAll('-', '')}`
const { sandbox, production } = await bed
  .team('alice')
  .call(operations.gateway.createOperator, { input: { name: 'Known' } })

t.test('keys that are asked for together are one statement', async (t) => {
  const directory = newDirectory()
  const keys = [...Array.from({ length: 150 }, madeUp), sandbox.key, production?.key ?? '']
  const found = await Promise.all(keys.map((key) => directory.find(key, '192.0.2.1')))
  t.equal(statements, 1)
  t.same(found.slice(0, 150).filter(Boolean), [])
  t.match(found.slice(150), [{ secret: sandbox.secret }, { secret: production?.secret ?? '' }])
})

t.test('a key that does not exist is asked for once', async (t) => {
  const directory = newDirectory()
  const key = madeUp()
  for (let count = 0; count < 5; count++) t.equal(await directory.find(key, '192.0.2.1'), null)
  t.equal(statements, 1)
})

t.test(
  'whoever makes up keys uses one connection at most, and another caller does not wait for all of them',
  async (t) => {
    const directory = newDirectory()
    let answered = 0
    const flood = Array.from({ length: 600 }, () =>
      directory.find(madeUp(), '192.0.2.1').then(
        () => {
          answered += 1
        },
        (error: { code: string }) => error.code,
      ),
    )
    const known = await directory.find(sandbox.key, '198.51.100.1')
    t.equal(known?.secret, sandbox.secret)
    t.ok(answered <= 200, 'it was in the first statement')
    const refused = (await Promise.all(flood)).filter((code) => code !== undefined)
    t.equal(refused.length, 100, 'more than half of the line is never for one caller')
    t.same([...new Set(refused)], ['RATE_LIMITED'])
    t.ok(statements <= 4)
  },
)

t.test('a key that has existed does not wait in the line of those that are made up', async (t) => {
  const directory = newDirectory(1)
  await directory.find(sandbox.key, '192.0.2.1')
  const callers = Array.from({ length: 10 }, (_, index) => `192.0.2.${index}`)
  const flood = callers.flatMap((caller) =>
    Array.from({ length: 200 }, () => directory.find(madeUp(), caller).catch(() => null)),
  )
  // From an address that fills the other line, after the life of its entry.
  t.equal((await directory.find(sandbox.key, '192.0.2.1'))?.secret, sandbox.secret)
  await Promise.all(flood)
})
