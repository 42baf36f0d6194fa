import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import t from 'tap'
import {
  adjustment,
  as,
  auditCorrection,
  type Brand,
  bed,
  behindItsBack,
  eachIsNamed,
  type Forgeries,
  forgeAudited,
} from './brand.ts'

const { wallet: money } = operations

const credit = (reference: string) =>
  ({ kind: 'credit', type: 'DEPOSIT', counterparty: 'deposits', amount: 500n, reference }) as const

/** The wallet itself posts it, with all that belongs to it. */
const forgeries: Forgeries = {
  'the wallet enters an adjustment that nobody made: corrections': (brand) => brand.post(adjustment),
  'the wallet enters an adjustment of another amount than a person made: corrections signatures': (brand) =>
    forgeAudited(brand, { amount: '1000.00' }),
  'the wallet enters an adjustment for another player than a person named: corrections': async (brand) =>
    forgeAudited(brand, { playerId: await brand.register() }),
  'an amount in the audit trail is none: corrections signatures': (brand) => forgeAudited(brand, { amount: 'much' }),
  'the wallet takes back a transfer that nobody reversed: corrections': async (brand) => {
    const { rows } = await bed
      .sql('wallet')
      .query('select id, amount from transfer where brand_id = $1', [brand.scope.brandId])
    const [{ id, amount }] = rows
    const reversal = { kind: 'debit', type: 'REVERSAL', counterparty: 'deposits', reverses: id } as const
    await brand.post({ ...reversal, amount: BigInt(amount), reference: 'back', reason: 'wrong' })
  },
  'an administrator lets the wallet take an adjustment from the account of the deposits: counterparties signatures':
    async (brand) => {
      const input = { playerId: brand.playerId, amount: '1000000.00', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, brand.playerId)
      const admin = bed.sql('admin')
      await admin.query('alter table wallet.transfer disable trigger check_sides')
      await brand.post({ ...adjustment, counterparty: 'deposits' })
      await admin.query('alter table wallet.transfer enable trigger check_sides')
    },
  'the wallet credits a deposit that nobody made: deposits': (brand) => brand.post(credit(newId('dep'))),
  'the wallet credits a deposit before it is confirmed: deposits': async (brand) =>
    brand.post(credit(await brand.deposit('5.00'))),
  'the wallet pays out what was never held: holds': (brand) =>
    brand.post({
      ...{ kind: 'debit', type: 'WITHDRAWAL', counterparty: 'withdrawals', amount: 500n, reference: newId('wdr') },
    }),
  'the wallet pays out a withdrawal that is not paid: withdrawals': async (brand) => {
    const { scope, playerId } = brand
    const input = { playerId, withdrawalId: await brand.approved(), effectiveAt: new Date().toISOString() }
    await bed.rpc.call(money.captureHold, { scope, input })
  },
  'the wallet holds money for a withdrawal that is not there: withdrawals': ({ scope, playerId }) =>
    bed.rpc.call(money.openHold, { scope, input: { playerId, withdrawalId: newId('wdr'), amount: '5.00' } }),
  'a player is registered without an account: accounts': ({ playerId }) =>
    as(
      'players',
      `insert into player select (jsonb_populate_record(p, jsonb_build_object(
          'id', $2::text, 'external_id', $2::text, 'kyc_status', 'nao_iniciado'
        ))).* from player p where id = $1`,
      [playerId, newId('ply')],
    ),
}

t.test('what is forged in the ledger is named, each by its check, and nothing else is', (t) =>
  eachIsNamed(t, forgeries),
)

/** Changes what the ledger has of a player with three credits of 100.00 and a hold. */
const edit = (statement: string) => async (brand: Brand) => {
  for (const amount of ['100.00', '100.00']) await brand.confirm(await brand.deposit(amount))
  await brand.request('5.00')
  await behindItsBack(
    `with account as (select * from wallet.account where owner_id = $1),
      entries as (select e.* from wallet.entry e join account a on a.id = e.account_id) ${statement}`,
    [brand.playerId],
  )
}
const second = '(select transfer_id from entries where seq = 2)'
const own = 'account_id in (select id from account)'

const edits: Forgeries = {
  'a balance: balances': edit('update wallet.account set posted = posted + 1 where owner_id = $1'),
  'what is held: balances': edit('update wallet.account set held = 0 where owner_id = $1'),
  'the reason of a transfer: chains': edit(`update wallet.transfer set reason = 'another' where id = ${second}`),
  'the time of a transfer: chains': edit(
    `update wallet.transfer set effective_at = effective_at + interval '1 ms' where id = ${second}`,
  ),
  'the balance after an entry: chains': edit(`update wallet.entry set balance = balance + 1 where seq = 2 and ${own}`),
  'an entry, which is gone: balances chains transfers': edit(`delete from wallet.entry where seq = 2 and ${own}`),
  'a transfer, which is gone: chains deposits': edit(`delete from wallet.transfer where id = ${second}`),
  'the places of two entries: chains': edit(`update wallet.entry e set transfer_id = o.transfer_id from entries o
      where e.${own} and e.seq in (1, 2) and o.seq = 3 - e.seq`),
  'the brand’s side of a transfer, which is gone: transfers': edit(
    `delete from wallet.entry where transfer_id = ${second} and seq is null`,
  ),
  'a hold, which is gone: balances withdrawals': edit(`delete from wallet.hold where ${own}`),
  'a hold, which is released: balances withdrawals': edit(
    `update wallet.hold set state = 'released', closed_at = now() where ${own}`,
  ),
  'a hold, which is captured: balances holds withdrawals': edit(
    `update wallet.hold set state = 'captured', closed_at = now(), transfer_id = 'trf_none' where ${own}`,
  ),
}

t.test('what an administrator changes behind the ledger’s back is named', (t) => eachIsNamed(t, edits))
