import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { reconciler } from '../../src/service.ts'

const bed = await testBed(t, { reconciler })

// By it corrections are judged, whatever the wallet wrote as their time.
t.test('the service cannot say in which transaction or when a run began, and keeps what was said', async (t) => {
  const own = bed.sql('reconciler')
  const refused = { message: /permission denied/ }
  await t.rejects(own.query("insert into moment (run_id, xid) values ('opn', '3')"), refused)
  await t.rejects(own.query("insert into moment (run_id, at) values ('opn', '2020-01-01')"), refused)
  await own.query("insert into moment (run_id) values ('opn')")
  await t.rejects(own.query('delete from moment'), refused)
  await t.rejects(own.query("update moment set run_id = ''"), refused)
})
