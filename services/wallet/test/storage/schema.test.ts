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
