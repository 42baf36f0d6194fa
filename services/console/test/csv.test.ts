import { createLogger } from '@backoffice/service-runtime/client'
import { eventually } from '@backoffice/test-kit'
import fastify, { type FastifyReply } from 'fastify'
import t from 'tap'
import { type CsvRow, cellText, sendCsv } from '../src/pages/csv.ts'
import type { Visit } from '../src/pages/visit.ts'

type Rows = AsyncGenerator<readonly CsvRow[]>

t.test('files that are sent while they are read', async (t) => {
  const log = createLogger('console', 'silent')
  let rows: () => Rows = async function* () {}
  const app = fastify({ forceCloseConnections: true })
  app.get('/', (_request, reply: FastifyReply) => sendCsv({ log, reply } as Visit, 'rows', rows()))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())

  await t.test('one that fails at its beginning is no file', async (t) => {
    rows = async function* () {
      yield [['title']]
      throw Object.assign(new Error('refused'), { statusCode: 403 })
    }
    t.equal((await fetch(url)).status, 403)
  })

  await t.test('one that fails later is broken off, so that nobody takes it for whole', async (t) => {
    rows = async function* () {
      yield [['title']]
      yield [['first']]
      yield [['second']]
      throw new Error('a service is away')
    }
    const response = await fetch(url)
    t.equal(response.status, 200)
    await t.rejects(response.text())
  })

  await t.test('so many are sent at once, and whoever leaves makes room', async (t) => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    rows = async function* () {
      yield [['title']]
      yield [['first']]
      await held
    }
    const leaving = new AbortController()
    const open = await Promise.all(Array.from({ length: 10 }, () => fetch(url, { signal: leaving.signal })))
    t.ok(open.every(({ status }) => status === 200))
    t.equal((await fetch(url)).status, 429)
    leaving.abort()
    release()
    await eventually(async () => (await fetch(url)).status === 200)
  })
})

t.test('a cell is text that no spreadsheet runs; a number stays one', async (t) => {
  for (const formula of ['=1+1', '+1', '-cmd', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '－1', '+5511999990000'])
    t.equal(cellText(formula), `'${formula}`)
  for (const plain of ['-5.00', '0', '12.50', 'ana@example.com', 'a=b', '']) t.equal(cellText(plain), plain)
  t.equal(cellText('evil\u202etxt'), 'evil\\u202etxt')
})
