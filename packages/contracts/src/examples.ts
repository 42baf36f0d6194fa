import type { Deposit, Kyc, Player, Withdrawal } from './resources.ts'

/** What the examples of operations, events and documents share, so that they read as one journey. */

export const sample = {
  operatorId: 'op_01kaj6a0qkf3d8ry3j8z6c9m1e',
  brandId: 'brd_01kaj6a0qmf8ctbdfmbh5yt2r7',
  playerId: 'ply_01kaj6dfw0e2x8bxmtpcs8nwfe',
  submissionId: 'kyc_01kaj6e2v7fbpsp8m0fsfyh2kb',
  depositId: 'dep_01kaj6fqs2e1hv2q9rqf3x6t4m',
  ledgerItemId: 'led_01kaj6gnn6e7rs0h4jyyb6a6vd',
  sessionId: 'ses_01kaj6hbv9e8psa4x2j3x0m6td',
  providerId: 'prv_01kaj69zz3e5q8m7w4x1n6d2ha',
  playId: 'pla_01kaj6hq5se7h9wq0c6y2d8n4r',
  roundId: 'rnd_01kaj6hq5qfe3t7m1r0zv9k2bx',
  withdrawalId: 'wdr_01kaj6j0a5fz7r6v4n0y2cj3sk',
  eventId: 'evt_01kaj6k1q8e2jr1v0b1k7z5h9p',
  testEventId: 'evt_01kaj6m6k4fvgs2g4k5x9q9n3c',
} as const

/** A bet of 2.00, and what it is answered. */
export const exampleBet = {
  transactionId: 'bet-7001',
  sessionId: sample.sessionId,
  playerId: sample.playerId,
  roundId: 'round-501',
  gameId: 'wallet-reels',
  amount: '2.00',
  currency: 'BRL',
}
export const examplePlay = {
  id: sample.playId,
  transactionId: 'bet-7001',
  roundId: 'round-501',
  roundState: 'open',
  applied: true,
  replayed: false,
  amount: '2.00',
  balanceAfter: '148.00',
  balance: '148.00',
  createdAt: '2026-03-02T12:06:00.000Z',
} as const

export const examplePlayer: Player = {
  id: sample.playerId,
  externalId: 'user-42',
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: '52998224725',
  phone: '+5511987654321',
  birthDate: '1990-05-17',
  status: 'ativo',
  kycStatus: 'nao_iniciado',
  currency: 'BRL',
  createdAt: '2026-03-02T12:00:00.000Z',
}

export const exampleSubmission: Kyc['submissions'][number] = {
  id: sample.submissionId,
  documentType: 'rg',
  reference: 'doc-831',
  submittedAt: '2026-03-02T12:00:05.120Z',
}
export const approvedKyc: Kyc = {
  playerId: sample.playerId,
  kycStatus: 'aprovado',
  submissions: [exampleSubmission],
  decidedAt: '2026-03-02T12:01:00.000Z',
  reason: null,
}

export const pendingDeposit: Deposit = {
  id: sample.depositId,
  playerId: sample.playerId,
  amount: '150.00',
  currency: 'BRL',
  method: 'pix',
  externalReference: 'pay-1001',
  status: 'pending',
  failureReason: null,
  createdAt: '2026-03-02T12:02:00.000Z',
  confirmedAt: null,
  failedAt: null,
}
export const confirmedDeposit: Deposit = {
  ...pendingDeposit,
  status: 'confirmed',
  confirmedAt: '2026-03-02T12:02:31.400Z',
}

export const requestedWithdrawal: Withdrawal = {
  id: sample.withdrawalId,
  playerId: sample.playerId,
  amount: '40.00',
  currency: 'BRL',
  method: 'pix',
  destination: 'ana@example.com',
  status: 'under_review',
  reason: null,
  createdAt: '2026-03-02T12:05:00.000Z',
  updatedAt: '2026-03-02T12:05:00.000Z',
  reviewedAt: null,
  paidAt: null,
}
export const approvedWithdrawal: Withdrawal = {
  ...requestedWithdrawal,
  status: 'approved',
  updatedAt: '2026-03-02T12:09:00.000Z',
  reviewedAt: '2026-03-02T12:09:00.000Z',
}
