import { operations } from '@backoffice/contracts'
import { refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { reconciler } from '../../src/service.ts'

const { recordRestore } = operations.reconciler
const bed = await testBed(t, { reconciler })

t.test('a restore is recorded only where heads are exported', async (t) => {
  const input = { restoredTo: '2026-03-02T12:00:00.000Z', reason: 'the disks were lost' }
  t.equal(await refusal(bed.team('alice').call(recordRestore, { input })), 'VALIDATION_ERROR')
  const { rows } = await bed
    .sql('reconciler')
    .query("select from audit_entry where operation = 'recordRestore' and outcome = 'done'")
  t.equal(rows.length, 0, 'and nobody is said to have recorded one')
})
