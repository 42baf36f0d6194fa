import { ledgerTypes } from '@backoffice/contracts'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { systemAccountKinds } from '../../src/domain/posting.ts'
import { wallet } from '../../src/service.ts'

const bed = await testBed(t, { wallet }, { startServices: false })

/** The words that the CHECK of a column lets in, once all migrations are applied. */
async function admitted(table: string, column: string): Promise<string[]> {
  const { rows } = await bed.sql('admin').query<{ rule: string }>(
    `select pg_get_constraintdef(c.oid) as rule
     from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum]
     where c.contype = 'c' and c.conrelid = $1::regclass and a.attname = $2`,
    [table, column],
  )
  return rows.flatMap(({ rule }) => [...rule.matchAll(/'(\w+)'/g)].map(([, word = '']) => word)).sort()
}

// A value that the table refuses fails only when it is first posted, and that command is then retried for ever.
t.test('the table of transfers takes every ledger type, and no other', async (t) => {
  t.same(await admitted('wallet.transfer', 'type'), [...ledgerTypes].sort())
})

t.test('the table of accounts takes players and every system account, and no other', async (t) => {
  t.same(await admitted('wallet.account', 'kind'), ['player', ...systemAccountKinds].sort())
})
