import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { wallet } from '../../src/service.ts'
import { readPages } from '../../src/statement/records.ts'

const bed = await testBed(t, { wallet })

t.test('pages of many calls are read together, each from its own place and as long as asked for', async (t) => {
  await bed.sql('admin').query(`
    begin;
    set local session_replication_role = replica;
    insert into wallet.account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
      select 'brd_pages', 'ply_' || n, 'player', 'BRL', '', '', now(), now() from generate_series(1, 2) n;
    insert into wallet.transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, effective_at, created_at)
      select 'trf_' || n, 'brd_pages', 'dep_' || n, 'DEPOSIT', 0, 1, 1, 'posted', now(), now() from generate_series(1, 60) n;
    insert into wallet.entry (account_id, seq, transfer_id, amount, balance, hash)
      select a.id, n, 'trf_' || n, 1, n, '' from generate_series(1, 60) n, wallet.account a where a.owner_id = 'ply_1';
    insert into wallet.entry (account_id, transfer_id, amount) select 0, id, -1 from wallet.transfer;
    commit
  `)
  const player = { brandId: 'brd_pages', playerId: 'ply_1' }
  const asked = [
    { ...player, before: 30n, limit: 2 },
    { ...player, before: null, limit: 3 },
    { ...player, playerId: 'ply_unknown', before: null, limit: 5 },
    { ...player, playerId: 'ply_2', before: 1n, limit: 5 },
    { ...player, before: null, limit: 1 },
  ]
  const pages = await readPages(bed.services.wallet.db.reader, asked)
  t.same(
    pages.map((page) => page?.entries.map(({ playerId, seq }) => `${playerId} ${seq}`)),
    [['ply_1 29', 'ply_1 28'], ['ply_1 60', 'ply_1 59', 'ply_1 58'], undefined, [], ['ply_1 60']],
  )
})
