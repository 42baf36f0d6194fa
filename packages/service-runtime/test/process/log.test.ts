import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { createLogger } from '../src/log.ts'
import { createProbeTables, payments } from './probe-services.ts'

function logger() {
  const lines: string[] = []
  return { lines, log: createLogger('probe', 'info', { write: (line: string) => lines.push(line) }) }
}

t.test('secrets and personal data are struck out', async (t) => {
  const { log, lines } = logger()
  log.info({ secret: 's3cret', player: { cpf: '52998224725', email: 'ana@example.com' }, playerId: 'ply_1' }, 'seen')
  t.match(JSON.parse(lines[0] ?? ''), { msg: 'seen', playerId: 'ply_1', name: 'probe' })
  t.notMatch(lines[0], /s3cret|52998224725|ana@/)
})

t.test("an error of the database says which rule was broken, never the row's values", async (t) => {
  const bed = await testBed(t, { payments })
  await createProbeTables(bed)
  const { log, lines } = logger()
  const em = bed.services.payments.orm.em.fork()
  const insert = "insert into record (id, count) values ('52998224725', 1)"
  await em.execute(insert)
  await em.execute(insert).catch((error) => log.error({ err: error }, 'failed'))
  await bed
    .sql('payments')
    .query("select '52998224725x'::bigint")
    .catch((error) => log.error({ err: error }, 'failed'))
  t.equal(lines.length, 2)
  t.match(JSON.parse(lines[0] ?? ''), { err: { code: '23505', constraint: 'record_pkey' } })
  t.match(JSON.parse(lines[1] ?? ''), { err: { code: '22P02' } })
  for (const line of lines) t.notMatch(line, /52998224725/)
})

t.test('other errors keep message, place and cause', async (t) => {
  const { log, lines } = logger()
  log.error({ err: new Error('outer', { cause: new TypeError('inner') }) }, 'failed')
  t.match(JSON.parse(lines[0] ?? ''), { err: { message: 'outer', stack: /log\.test/, cause: { message: 'inner' } } })
})
