import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import t from 'tap'
import { adjustment, as, auditCorrection, bed, eachIsNamed, type Forgery, forgeAudited } from './brand.ts'

const { wallet: money } = operations

const forgeries: readonly Forgery[] = [
  {
    what: 'the wallet enters an adjustment that nobody made',
    found: ['corrections'],
    forge: (brand) => brand.post(adjustment),
  },
  {
    what: 'the wallet enters an adjustment of another amount than a person made',
    found: ['corrections', 'signatures'],
    forge: (brand) => forgeAudited(brand, { amount: '1000.00' }),
  },
  {
    what: 'the wallet enters an adjustment for another player than a person named',
    found: ['corrections'],
    async forge(brand) {
      await forgeAudited(brand, { playerId: await brand.register() })
    },
  },
  {
    what: 'an amount in the audit trail is none',
    found: ['corrections', 'signatures'],
    forge: (brand) => forgeAudited(brand, { amount: 'much' }),
  },
  {
    what: 'the wallet takes back a transfer that nobody reversed',
    found: ['corrections'],
    async forge(brand) {
      const { rows } = await bed
        .sql('wallet')
        .query('select id, amount from transfer where brand_id = $1', [brand.scope.brandId])
      const [{ id, amount }] = rows
      const reversal = { kind: 'debit', type: 'REVERSAL', counterparty: 'deposits', reverses: id } as const
      await brand.post({ ...reversal, amount: BigInt(amount), reference: 'back', reason: 'wrong' })
    },
  },
  {
    what: 'an administrator lets the wallet take an adjustment from the account of the deposits',
    found: ['counterparties', 'signatures'],
    async forge(brand) {
      const input = { playerId: brand.playerId, amount: '1000000.00', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, brand.playerId)
      const admin = bed.sql('admin')
      await admin.query('alter table wallet.transfer disable trigger check_sides')
      await brand.post({ ...adjustment, counterparty: 'deposits' })
      await admin.query('alter table wallet.transfer enable trigger check_sides')
    },
  },
  {
    what: 'the wallet credits a deposit that nobody made',
    found: ['deposits'],
    forge: (brand) =>
      brand.post({ kind: 'credit', type: 'DEPOSIT', counterparty: 'deposits', amount: 500n, reference: newId('dep') }),
  },
  {
    what: 'the wallet credits a deposit before it is confirmed',
    found: ['deposits'],
    async forge(brand) {
      const reference = await brand.deposit('5.00')
      await brand.post({ kind: 'credit', type: 'DEPOSIT', counterparty: 'deposits', amount: 500n, reference })
    },
  },
  {
    what: 'the wallet pays out what was never held',
    found: ['holds'],
    forge: (brand) =>
      brand.post({
        kind: 'debit',
        type: 'WITHDRAWAL',
        counterparty: 'withdrawals',
        amount: 500n,
        reference: newId('wdr'),
      }),
  },
  {
    what: 'the wallet pays out a withdrawal that is not paid',
    found: ['withdrawals'],
    async forge(brand) {
      const input = {
        playerId: brand.playerId,
        withdrawalId: await brand.approved(),
        effectiveAt: new Date().toISOString(),
      }
      await bed.rpc.call(money.captureHold, { scope: brand.scope, input })
    },
  },
  {
    what: 'the wallet holds money for a withdrawal that is not there',
    found: ['withdrawals'],
    forge: ({ scope, playerId }) =>
      bed.rpc.call(money.openHold, { scope, input: { playerId, withdrawalId: newId('wdr'), amount: '5.00' } }),
  },
  {
    what: 'a player is registered without an account',
    found: ['accounts'],
    forge: ({ playerId }) =>
      as(
        'players',
        `insert into player select (jsonb_populate_record(p, jsonb_build_object(
          'id', $2::text, 'external_id', $2::text, 'kyc_status', 'nao_iniciado'
        ))).* from player p where id = $1`,
        [playerId, newId('ply')],
      ),
  },
]

t.test('what is forged in the ledger is named, each by its check, and nothing else is', (t) =>
  eachIsNamed(t, forgeries),
)
