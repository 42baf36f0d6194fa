import type { Static } from '@sinclair/typebox'
import { sandboxAmounts } from './limits.ts'
import { oneOf } from './schema.ts'

// The words that a record's status may have, each with what it means to an operator.

export const environments = ['sandbox', 'production'] as const
export const EnvironmentName = oneOf(environments, {
  meanings: { sandbox: 'the test brand, with invented people and fictitious money', production: 'the real brand' },
})
export type Environment = Static<typeof EnvironmentName>

export const playerStatuses = ['ativo', 'suspenso', 'bloqueado', 'autoexcluido', 'encerrado', 'restrito'] as const
const notActive = 'deposits and play are refused with `PLAYER_NOT_ACTIVE`'
export const PlayerStatus = oneOf(playerStatuses, {
  $id: 'PlayerStatus',
  description:
    'Account status of the player, as it is now. Deposits and play need `ativo`; withdrawals do not depend on it. `suspenso`, `bloqueado`, `encerrado` and `restrito` refuse the same, and differ in why.',
  meanings: {
    ativo: 'active; deposits are possible, and play once the KYC is approved',
    suspenso: `suspended by the team for a time, while something is cleared up; ${notActive}`,
    bloqueado: `blocked by the team until further notice, for example for fraud; ${notActive}`,
    autoexcluido:
      'self-excluded, for a time or for good, whatever else the status would be. It is of the person, so it holds for every player of your brand with the same CPF; deposits and play are refused with `RG_BLOCKED`',
    encerrado: `closed for good or until somebody asks for it again; ${notActive}`,
    restrito: `restricted by the team, for example by the order of an authority; ${notActive}`,
  },
})
export type PlayerStatus = Static<typeof PlayerStatus>

export const changeSources = ['operator', 'team', 'expiry'] as const
export const ChangeSource = oneOf(changeSources, {
  description: 'What caused the change.',
  meanings: {
    operator: 'a call of yours',
    team: 'our team',
    expiry: 'a time has ended',
  },
})
export type ChangeSource = Static<typeof ChangeSource>

export const kycStatuses = [
  'nao_iniciado',
  'pendente',
  'em_analise',
  'documento_solicitado',
  'aprovado',
  'reprovado',
  'expirado',
] as const
const kycMeanings = {
  nao_iniciado: 'not begun; no document was submitted yet',
  pendente: 'pending; set by the team while something is still missing',
  em_analise: 'in review; a document was submitted, and the team decides',
  documento_solicitado: 'the team asks for another document; submit one',
  aprovado: 'approved; withdrawals and game sessions are possible',
  reprovado: 'refused; `reason` says why; a new submission begins a new review',
  expirado: 'expired; the approval has ended, by its term or by a decision; submit a document again',
} as const satisfies Record<(typeof kycStatuses)[number], string>
export const KycStatus = oneOf(kycStatuses, {
  $id: 'KycStatus',
  description: 'Status of the identity check (KYC).',
  meanings: kycMeanings,
})
export type KycStatus = Static<typeof KycStatus>

const [, ...decidedStatuses] = kycStatuses
/** Every status but the first, because nobody decides that a check was not begun. */
export const kycDecisions: Readonly<typeof decidedStatuses> = decidedStatuses
export const KycDecision = oneOf(kycDecisions, {
  $id: 'KycDecision',
  description: 'The decided status.',
  meanings: kycMeanings,
})
export type KycDecision = Static<typeof KycDecision>

export const depositStatuses = ['pending', 'confirmed', 'failed'] as const
export const DepositStatus = oneOf(depositStatuses, {
  $id: 'DepositStatus',
  description: 'Status of the deposit.',
  meanings: {
    pending: 'created; nothing is credited yet',
    confirmed: 'you confirmed it; the wallet was credited, once',
    failed: 'you marked it as failed, or our team ended it; nothing was credited',
  },
})
export type DepositStatus = Static<typeof DepositStatus>

export const withdrawalStatuses = ['under_review', 'approved', 'paid', 'rejected', 'cancelled', 'failed'] as const
export const WithdrawalStatus = oneOf(withdrawalStatuses, {
  $id: 'WithdrawalStatus',
  description: 'Status of the withdrawal.',
  meanings: {
    under_review: 'waits for the team, and can be cancelled; `withdrawable` is reduced, `available` is not',
    approved: 'approved, and waits to be paid; it cannot be cancelled any more',
    paid: 'paid; only now `available` is reduced',
    rejected: 'refused by the team; the amount is withdrawable again',
    cancelled: 'cancelled by you; the amount is withdrawable again',
    failed: 'the payment failed; the amount is withdrawable again',
  },
})
export type WithdrawalStatus = Static<typeof WithdrawalStatus>

/** Of withdrawals that wait for the team, in the order of its work. */
export const waitingStatuses = ['under_review', 'approved'] as const satisfies readonly WithdrawalStatus[]
export type WaitingStatus = (typeof waitingStatuses)[number]

export const withdrawalDecisions = ['approve', 'reject', 'pay'] as const
export const WithdrawalDecision = oneOf(withdrawalDecisions, {
  description: 'What the team would decide.',
  meanings: {
    approve: '`under_review` becomes `approved`',
    reject: '`under_review` becomes `rejected`',
    pay: `\`approved\` becomes \`paid\`, or \`failed\` for an amount of exactly ${sandboxAmounts.withdrawalFailsOnPay}`,
  },
})

export const ledgerTypes = [
  'DEPOSIT',
  'WITHDRAWAL',
  'ADJUSTMENT',
  'REVERSAL',
  'BET',
  'WIN',
  'ROLLBACK',
  'JACKPOT',
  'PROMOTION',
] as const
/** What causes an entry of each type, as the reference of a ledger item calls it. */
export const ledgerCauses = {
  DEPOSIT: 'deposit',
  WITHDRAWAL: 'withdrawal',
  ADJUSTMENT: 'adjustment',
  REVERSAL: 'reversal',
  BET: 'round',
  WIN: 'round',
  ROLLBACK: 'round',
  JACKPOT: 'round',
  PROMOTION: 'promotion',
} as const satisfies Record<(typeof ledgerTypes)[number], string>
export const LedgerType = oneOf(ledgerTypes, {
  $id: 'LedgerType',
  description: 'Kind of entry. New kinds may come: take those that you do not know.',
  meanings: {
    DEPOSIT: 'a credit: a deposit was confirmed',
    WITHDRAWAL: 'a debit: a withdrawal was paid',
    ADJUSTMENT: 'a credit or a debit: a correction by our team',
    REVERSAL: 'our team undid an earlier entry, with the opposite sign',
    BET: 'a debit: a stake in a game',
    WIN: 'a credit: what a stake won',
    ROLLBACK: 'a credit: the game took a stake back, with the opposite sign',
    JACKPOT: 'a credit: a jackpot',
    PROMOTION: 'a credit: a prize of the game provider, such as free rounds or a tournament',
  },
})
export type LedgerType = Static<typeof LedgerType>

export const gameModes = ['demo', 'real'] as const
export const GameMode = oneOf(gameModes, {
  description: 'What is played for.',
  meanings: { demo: 'a fictitious balance; always so in the sandbox', real: 'money' },
})
