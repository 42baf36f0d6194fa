import { createLogger } from '@backoffice/process'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { payments } from '../probe-services.ts'

t.test("an error of the database says which rule was broken, never the row's values", async (t) => {
  const bed = await testBed(t, { payments })
  const lines: string[] = []
  const log = createLogger('probe', 'info', { write: (line: string) => lines.push(line) })
  const { db } = bed.services.payments
  const insert = () => db`insert into record (id, count) values ('52998224725', 1)`
  await insert()
  await insert().catch((error) => log.error({ err: error }, 'failed'))
  const byEntity = "insert into record (id, count) values ('52998224725', 1)"
  await (await db.em()).execute(byEntity).catch((error) => log.error({ err: error }, 'failed'))
  await bed
    .sql('payments')
    .query("select '52998224725x'::bigint")
    .catch((error) => log.error({ err: error }, 'failed'))
  t.equal(lines.length, 3)
  for (const line of lines.slice(0, 2)) t.match(JSON.parse(line), { err: { code: '23505', constraint: 'record_pkey' } })
  t.match(JSON.parse(lines[2] ?? ''), { err: { code: '22P02' } })
  for (const line of lines) t.notMatch(line, /52998224725/)
})
