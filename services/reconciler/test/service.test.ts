import { operations } from '@backoffice/contracts'
import { refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { reconciler } from '../src/service.ts'

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

const { recordRestore } = operations.reconciler

t.test('a restore is recorded only where heads are exported', async (t) => {
  const input = { restoredTo: '2026-03-02T12:00:00.000Z', reason: 'the disks were lost' }
  t.equal(await refusal(bed.team('alice').call(recordRestore, { input })), 'VALIDATION_ERROR')
  const { rows } = await bed
    .sql('reconciler')
    .query("select from audit_entry where operation = 'recordRestore' and outcome = 'done'")
  t.equal(rows.length, 0, 'and nobody is said to have recorded one')
})
