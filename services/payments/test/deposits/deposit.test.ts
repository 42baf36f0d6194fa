import {
  depositStatuses,
  depositsOfPlayerMax,
  type PlayerStanding,
  playerStatuses,
  Rejection,
  type Scope,
  sandboxAmounts,
  toMinorUnits,
} from '@backoffice/contracts'
import { codeOf } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import {
  admitDeposit,
  beforeSettling,
  beginDeposit,
  type StoredDeposit,
  settleDeposit,
  takeBackConfirmation,
} from '../../src/deposits/deposit.ts'
import { ofBrand } from '../../src/records.ts'

const at = new Date('2026-03-02T12:00:00.000Z')
const by = { kind: 'operator', name: 'op_1' } as const
const context = { at, by }
const request = {
  id: 'dep_1',
  playerId: 'ply_1',
  amount: 1_000n,
  currency: 'BRL',
  method: 'pix',
  externalReference: 'pay-1',
}
const standing: PlayerStanding = {
  playerId: 'ply_1',
  currency: 'BRL',
  status: 'ativo',
  kycStatus: 'aprovado',
  dailyDepositLimit: null,
}
const admission = {
  amount: 1_000n,
  currency: 'BRL',
  environment: 'production',
  standing,
  dayTotal: 0n,
  deposited: 0n,
} as const

t.test('every status × every command: only a pending deposit settles', async (t) => {
  const expected = {
    pending: { confirm: 'confirmed', fail: 'failed' },
    confirmed: { confirm: 'DEPOSIT_NOT_PENDING', fail: 'DEPOSIT_NOT_PENDING' },
    failed: { confirm: 'DEPOSIT_NOT_PENDING', fail: 'DEPOSIT_NOT_PENDING' },
  } as const
  for (const status of depositStatuses) {
    for (const command of ['confirm', 'fail'] as const) {
      const deposit: StoredDeposit = { ...beginDeposit(request, context).deposit, status }
      const run = () => settleDeposit(deposit, command, context).deposit.status
      t.equal(codeOf(run) ?? run(), expected[status][command], `${command} when ${status}`)
      if (status !== 'pending')
        t.throws(run, { code: 'DEPOSIT_NOT_PENDING', details: { depositId: deposit.id, status } })
    }
  }
})

t.test('a record of another brand is unknown, and the id of its player is that of no brand', async (t) => {
  const scope: Scope = { ...{ operatorId: 'op_1', brandId: 'brd_1' }, ...admission, timeZone: 'America/Sao_Paulo' }
  const record = { ...scope, ...beginDeposit(request, context).deposit }
  t.equal(ofBrand(record, 'brd_1'), record)
  t.equal(ofBrand(record, 'brd_2'), undefined)
  // @ts-expect-error: a player is no brand
  t.equal(ofBrand(record, record.playerId), undefined)
})

t.test('settling writes who, when and why, and raises the version', async (t) => {
  const { deposit, transition } = beginDeposit(request, context)
  t.same(transition, { version: 1, from: null, to: 'pending', at, by, reason: null })
  const later = new Date('2026-03-02T13:00:00.000Z')
  const failed = settleDeposit(deposit, 'fail', { at: later, by, reason: 'expired' })
  t.match(failed.deposit, {
    status: 'failed',
    failedAt: later,
    failureReason: 'expired',
    confirmedAt: null,
    version: 2,
  })
  t.same(failed.transition, { version: 2, from: 'pending', to: 'failed', at: later, by, reason: 'expired' })
  const confirmed = settleDeposit(deposit, 'confirm', { at: later, by })
  t.match(confirmed.deposit, {
    status: 'confirmed',
    confirmedAt: later,
    failureReason: null,
    failedAt: null,
    version: 2,
  })
  t.same(beforeSettling(confirmed.deposit), deposit, 'before the wallet has done its part it is what it was')
  t.same(beforeSettling(failed.deposit), deposit)
})

/** Why such a deposit may not begin: the code, and what it says. Null: it may. */
function refusalOf(given: Partial<Parameters<typeof admitDeposit>[0]>): [string, unknown] | null {
  try {
    admitDeposit({ ...admission, ...given })
    return null
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    return [error.code, Object.values(error.details ?? {}).at(-1)]
  }
}

t.test('refusals come in the order currency, self-exclusion, status, daily limit, room in the wallet', async (t) => {
  let wrong: Parameters<typeof admitDeposit>[0] = {
    ...{ ...admission, currency: 'USD', deposited: depositsOfPlayerMax },
    standing: { ...standing, status: 'autoexcluido', dailyDepositLimit: '1.00' },
  }
  for (const [refused, mended] of [
    [['CURRENCY_MISMATCH', 'USD'], { currency: 'BRL' }],
    [['RG_BLOCKED', 'self_exclusion'], { standing: { ...wrong.standing, status: 'suspenso' } }],
    [['PLAYER_NOT_ACTIVE', 'suspenso'], { standing: { ...wrong.standing, status: 'ativo' } }],
    [['RG_BLOCKED', 'daily_limit'], { standing }],
    [['VALIDATION_ERROR', [{ path: '/amount', message: String }]], { deposited: 0n }],
  ] as const) {
    t.match(refusalOf(wrong), refused)
    wrong = { ...wrong, ...mended }
  }
  t.equal(refusalOf(wrong), null)
})

t.test('of the player statuses only ativo may deposit, whatever the KYC is', async (t) => {
  for (const status of playerStatuses) {
    const [code = null] = refusalOf({ standing: { ...standing, status, kycStatus: 'nao_iniciado' } }) ?? []
    t.equal(code, status === 'ativo' ? null : status === 'autoexcluido' ? 'RG_BLOCKED' : 'PLAYER_NOT_ACTIVE', status)
  }
})

t.test(
  'the reserved amounts are blocked in the sandbox, each for its reason, and mean nothing in production',
  async (t) => {
    const { depositBlocked, depositOverLimit } = sandboxAmounts
    for (const [reserved, reason] of [
      [depositBlocked, 'self_exclusion'],
      [depositOverLimit, 'daily_limit'],
    ] as const) {
      const amount = toMinorUnits(reserved)
      t.same(refusalOf({ amount, environment: 'sandbox' }), ['RG_BLOCKED', reason])
      t.equal(refusalOf({ amount }), null)
    }
  },
)

t.test('the day never sums to more than the limit, and reaches it exactly', async (t) => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 50_000n }), { maxLength: 50 })
  const property = fc.property(amounts, fc.bigInt({ min: 1n, max: 500_000n }), (wished, limit) => {
    const limited = { ...standing, dailyDepositLimit: `${limit / 100n}.${String(limit % 100n).padStart(2, '0')}` }
    let dayTotal = 0n
    for (const amount of wished) {
      if (refusalOf({ standing: limited, amount, dayTotal }) === null) dayTotal += amount
      else if (dayTotal + amount <= limit) return false
    }
    return dayTotal <= limit
  })
  t.doesNotThrow(() => fc.assert(property))
})

t.test('a confirmation that is taken back leaves a failed deposit and both steps of its history', async (t) => {
  const { deposit } = beginDeposit(request, context)
  const confirmed = settleDeposit(deposit, 'confirm', context).deposit
  const by = { kind: 'team', name: 'bob' } as const
  t.same(takeBackConfirmation(confirmed, { at, by, reason: 'no room' }), {
    deposit: { ...deposit, status: 'failed', version: 3, failedAt: at, failureReason: 'no room' },
    transition: { version: 3, from: 'confirmed', to: 'failed', at, by, reason: 'no room' },
  })
  t.throws(() => takeBackConfirmation(deposit, { at, by, reason: 'no room' }), /only a confirmation/)
})
