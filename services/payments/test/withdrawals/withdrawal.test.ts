import {
  kycStatuses,
  type PlayerStanding,
  playerStatuses,
  sandboxAmounts,
  toMinorUnits,
  withdrawalStatuses,
} from '@backoffice/contracts'
import { codeOf } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { settled } from '../../src/records.ts'
import type { StatusTransition } from '../../src/transition.ts'
import { publicWithdrawal } from '../../src/withdrawals/views.ts'
import {
  admitWithdrawal,
  applyDecision,
  beforeLastTransition,
  beginWithdrawal,
  invisibleStates,
  isDestinationKnown,
  isPaidAlone,
  nextMove,
  payTakesTwo,
  type StoredWithdrawal,
  sandboxOutcome,
  type WithdrawalDecision,
  withdrawalCommands,
} from '../../src/withdrawals/withdrawal.ts'

const at = new Date('2026-03-02T12:00:00.000Z')
const by = { kind: 'team', name: 'alice' } as const
const { withdrawal, transition: opening } = beginWithdrawal(
  {
    id: 'wdr_1',
    playerId: 'ply_1',
    amount: 4_000n,
    currency: 'BRL',
    method: 'pix',
    destination: 'ana@example.com',
    environment: 'production',
  },
  { at, by: { kind: 'operator', name: 'op_1' } },
)
const standing: PlayerStanding = {
  playerId: 'ply_1',
  currency: 'BRL',
  status: 'ativo',
  kycStatus: 'aprovado',
  dailyDepositLimit: null,
}
const decisions: readonly WithdrawalDecision[] = ['cancel', 'approve', 'reject', 'pay', 'fail']

t.test('only a withdrawal that may be shown fits a view', async (t) => {
  t.equal(publicWithdrawal(settled(withdrawal)).status, 'under_review')
  // @ts-expect-error: one of a list may be settling
  publicWithdrawal({ ...withdrawal, isSettling: true })
})

t.test('every state × every command leads where the table says, and what it says becomes of the hold', async (t) => {
  const expected: Readonly<Record<string, string>> = {
    'intent begin': 'under_review keep',
    'intent refuse': 'refused keep',
    'intent abandon': 'abandoned release',
    'under_review cancel': 'cancelled release',
    'under_review approve': 'approved keep',
    'under_review reject': 'rejected release',
    'approved pay': 'paid capture',
    'approved fail': 'failed release',
  }
  const states = [...invisibleStates, ...withdrawalStatuses]
  t.equal(states.length * withdrawalCommands.length, 72)
  for (const state of states) {
    for (const command of withdrawalCommands) {
      const move = nextMove(state, command)
      const told = move === null ? undefined : `${move.to} ${move.hold}`
      t.equal(told, expected[`${state} ${command}`], `${command} when ${state}`)
    }
  }
  for (const status of withdrawalStatuses)
    for (const decision of decisions) {
      const refused = decision === 'cancel' ? 'WITHDRAWAL_NOT_CANCELLABLE' : 'WITHDRAWAL_INVALID_STATE'
      const run = () => applyDecision({ ...withdrawal, status, approvedBy: 'bob' }, decision, { at, by })
      if (nextMove(status, decision) !== null) t.equal(codeOf(run), null, `${decision} when ${status}`)
      else t.throws(run, { code: refused, details: { withdrawalId: 'wdr_1', status } }, `${decision} when ${status}`)
    }
})

t.test('in production approving and paying one withdrawal take two people', async (t) => {
  const { withdrawal: approved } = applyDecision(withdrawal, 'approve', { at, by })
  t.equal(approved.approvedBy, 'alice')
  t.equal(isPaidAlone(approved, { ...by, isMachine: false }), true)
  t.equal(isPaidAlone(approved, { kind: 'team', name: 'bob', isMachine: false }), false)
  t.equal(isPaidAlone(approved, { kind: 'team', name: 'bob', isMachine: true }), true, 'a machine is no second person')
  const { withdrawal: byAccount } = applyDecision(withdrawal, 'approve', { at, by: { ...by, id: 'account-1' } })
  const renamed = { kind: 'team', name: 'alice.souza', id: 'account-1', isMachine: false } as const
  t.equal(isPaidAlone(byAccount, renamed), true, 'one account under another name')
  t.equal(payTakesTwo(approved, { upTo: 0n, paid: 0n }), true)
  const paid = applyDecision(approved, 'pay', { at, by: { kind: 'team', name: 'bob' } })
  t.equal(paid.withdrawal.status, 'paid')
  t.doesNotThrow(() => applyDecision(approved, 'fail', { at, by }), 'failing one is no payment')
})

t.test('up to an amount one person may approve and pay', async (t) => {
  const { withdrawal: approved } = applyDecision(withdrawal, 'approve', { at, by })
  for (const [upTo, paid, isAlone] of [
    [0n, 0n, false],
    [3_999n, 0n, false],
    [4_000n, 0n, true],
    [4_000n, 1n, false],
    [9_000n, 5_000n, true],
    [9_000n, 5_001n, false],
  ] as const) {
    t.equal(payTakesTwo(approved, { upTo, paid }), !isAlone)
  }
  t.equal(payTakesTwo({ ...approved, environment: 'sandbox' }, { upTo: 0n, paid: 0n }), false)
})

t.test('in production only people decide, and what nobody approved is not paid, however small', async (t) => {
  const forged = { ...withdrawal, status: 'approved', approvedBy: null } as const
  t.throws(() => applyDecision(forged, 'pay', { at, by }), { code: 'TWO_PEOPLE_REQUIRED' })
  const route = { kind: 'sandbox', name: 'op_1' } as const
  for (const [decision, found] of [
    ['approve', withdrawal],
    ['reject', withdrawal],
    ['pay', { ...forged, approvedBy: 'alice' }],
    ['fail', forged],
  ] as const)
    t.throws(() => applyDecision(found, decision, { at, by: route }), /only in the sandbox/, decision)
})

t.test('an approval by the sandbox route is nobody of the team', async (t) => {
  const route = { kind: 'sandbox', name: 'alice' } as const
  const inSandbox = { ...withdrawal, environment: 'sandbox' } as const
  t.equal(applyDecision(inSandbox, 'approve', { at, by: route }).withdrawal.approvedBy, null)
})

t.test('the reserved amount fails on pay in the sandbox, and is paid in production', async (t) => {
  const amount = toMinorUnits(sandboxAmounts.withdrawalFailsOnPay)
  const reserved = { ...withdrawal, amount, environment: 'sandbox' } as const
  for (const decision of decisions) {
    t.equal(sandboxOutcome(reserved, decision), decision === 'pay' ? 'fail' : decision, decision)
    t.equal(sandboxOutcome({ ...reserved, environment: 'production' }, decision), decision)
    t.equal(sandboxOutcome({ ...reserved, amount: amount + 1n }, decision), decision)
  }
})

t.test('a withdrawal needs the currency of the player, then an approved KYC, whatever the status', async (t) => {
  const admit = (given: Partial<PlayerStanding>, currency = 'BRL') =>
    codeOf(() => admitWithdrawal({ currency, standing: { ...standing, ...given } }))
  for (const kycStatus of kycStatuses)
    t.equal(admit({ kycStatus }), kycStatus === 'aprovado' ? null : 'KYC_NOT_APPROVED', kycStatus)
  for (const status of playerStatuses) t.equal(admit({ status }), null, `${status}: money is never locked in`)
  t.equal(admit({ kycStatus: 'reprovado' }, 'USD'), 'CURRENCY_MISMATCH')
})

const anyDecisions = fc.array(
  fc.record({
    decision: fc.constantFrom(...decisions),
    name: fc.constantFrom('alice', 'bob'),
    reason: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    minutes: fc.nat(1_000),
  }),
  { maxLength: 12 },
)

t.test(
  'whatever is decided, the hold ends once, versions rise by one, and the last step can be shown undone',
  async (t) => {
    const property = fc.property(
      anyDecisions,
      fc.constantFrom('sandbox' as const, 'production' as const),
      (wished, environment) => {
        let current: StoredWithdrawal = { ...withdrawal, environment }
        const history: StatusTransition[] = [opening]
        let holdsEnded = 0
        for (const { decision, name, reason, minutes } of wished) {
          const context = {
            at: new Date(at.getTime() + minutes * 60_000),
            by: { kind: 'team', name },
            reason,
          } as const
          if (codeOf(() => applyDecision(current, decision, context)) !== null) continue
          const decided = applyDecision(current, decision, context)
          history.push(decided.transition)
          if (decided.hold !== 'keep') holdsEnded++
          if (text(beforeLastTransition(decided.withdrawal, history)) !== text(current)) return false
          if (decided.withdrawal.version !== current.version + 1) return false
          current = decided.withdrawal
        }
        const isOpen = current.status === 'under_review' || current.status === 'approved'
        return holdsEnded === (isOpen ? 0 : 1) && (current.paidAt !== null) === (current.status === 'paid')
      },
    )
    t.doesNotThrow(() => fc.assert(property))
  },
)

const text = (value: StoredWithdrawal) => JSON.stringify({ ...value, amount: value.amount.toString() })

/** Keys as the rules of Pix have them, and how people write them: a line between two ways. */
const pixKeys = {
  'cpf 52998224725':
    '52998224725|529.982.247-25| 529 982 247 25|５２９９８２２４７２５|529982247\u206025|529.982.247\u201125',
  'cnpj 00038166000105': '00038166000105|00.038.166/0001-05|00 038 166 0001 05',
  'cnpj 12ABC34501DE35': '12ABC34501DE35|12.abc.345/01de-35',
  'phone +5561912345678':
    '+5561912345678|5561912345678|+55 61 91234-5678|(61) 91234-5678|061912345678|0055 61 91234 5678',
  'phone +551133334444': '+551133334444|(11) 3333-4444|1133334444',
  'phone +447911123456': '+447911123456|+44 7911 123456|00447911123456',
  'e-mail':
    'fulano_da_silva.recebedor@example.com| FULANO_DA_SILVA.recebedor@Example.com|ｆulano_da_silva.recebedor@example.com',
  'another e-mail': 'fulanodasilva.recebedor@example.com',
  'e-mail with another letter': 'ful\u0430no_da_silva.recebedor@example.com',
  evp: '123e4567-e12b-12d1-a456-426655440000|123E4567E12B12D1A456426655440000|{123e4567-e12b-12d1-a456-426655440000}',
  'no CPF': '52998224726|529.982.247-26',
  'no key': 'their own|Their  OWN',
  'no key either': 'their-own',
}

t.test('a Pix key is known however it was written, and no other is', async (t) => {
  const unseen = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
    /[\p{Default_Ignorable_Code_Point}\u2800]/u.test(character),
  )
  const keys = Object.entries(pixKeys).map(([name, ways]) => [name, ways.split('|')] as const)
  for (const [known, written] of keys) {
    const past = { destinations: [{ method: 'pix', destination: written[0] as string }] }
    for (const [name, others] of keys)
      for (const destination of others)
        t.equal(isDestinationKnown({ method: 'PIX', destination }, past), name === known, `${destination} for ${known}`)
    const hidden = unseen.filter((character) => {
      const destination = written[0]?.replace(/^./, `$&${character}`) ?? ''
      return !isDestinationKnown({ method: 'pix', destination }, past)
    })
    t.same(hidden, [], known)
  }
})

t.test('a destination of another method is compared by sight, and a CPF without its punctuation', async (t) => {
  const isKnown = (one: string, other: string) =>
    isDestinationKnown({ method: 'ted', destination: one }, { destinations: [{ method: 'ted', destination: other }] })
  for (const [one, other] of [
    ['Conta  1-2', 'conta 1-2'],
    ['529.982.247-25', '52998224725'],
    ['ＡＢ', 'ab\u034f'],
  ] as const)
    t.ok(isKnown(one, other), one)
  for (const [one, other] of [
    ['1-2', '12'],
    ['+5561912345678', '5561912345678'],
    ['', 'x'],
  ] as const)
    t.notOk(isKnown(one, other), one)
})
