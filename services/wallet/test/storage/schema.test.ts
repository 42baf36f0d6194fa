import { ledgerTypes } from '@backoffice/contracts'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { systemAccountKinds } from '../../src/domain/posting.ts'
import { wallet } from '../../src/service.ts'

const bed = await testBed(t, { wallet })
const admin = bed.sql('admin')

// A CHECK that does not know a value would fail every batch that has it, and each of its commands would be retried for
// ever.
t.test('the schema takes transfers of every type', async () => {
  for (const type of ledgerTypes) {
    await admin.query(
      `insert into wallet.transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, reverses,
         effective_at, created_at) values ($1, 'brd_schema', $1, $2, 1, 2, 1, 'posted', $3, now(), now())`,
      [`trf_${type}`, type, type === 'REVERSAL' ? 'trf_DEPOSIT' : null],
    )
  }
})

t.test('the schema takes system accounts of every kind', async () => {
  for (const kind of systemAccountKinds) {
    await admin.query(
      `insert into wallet.account (brand_id, kind, currency, genesis, head, created_at, updated_at)
         values ('brd_schema', $1, 'BRL', '', '', now(), now())`,
      [kind],
    )
  }
})

// By them reconciliation tells when something was entered, whatever the service wrote as its time.
t.test('the service cannot say in which transaction it enters something, nor when a run began', async (t) => {
  const own = bed.sql('wallet')
  const refused = { message: /permission denied/ }
  await t.rejects(
    own.query("insert into entry (account_id, transfer_id, amount, xid) values (1, 'trf', 1, '3')"),
    refused,
  )
  await own.query("insert into entry (account_id, transfer_id, amount) values (1, 'trf', 1)")
  await t.rejects(own.query("insert into reconciliation_moment (run_id, xid) values ('opn', '3')"), refused)
  await t.rejects(own.query("insert into reconciliation_moment (run_id, at) values ('opn', '2020-01-01')"), refused)
  await own.query("insert into reconciliation_moment (run_id) values ('opn')")
  await t.rejects(own.query('delete from reconciliation_moment'), refused)
  await t.rejects(own.query("update reconciliation_moment set run_id = ''"), refused)
})
