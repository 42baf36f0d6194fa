import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'
import { countedEnvironment, ofAllOperators, operatorColumn, waitingColumns } from './queues.ts'

export const kyc = [
  row({
    path: 'kyc queue',
    operation: operations.players.kycQueue,
    fixed: ofAllOperators.fixed,
    wording: { ...ofAllOperators.wording, limit: { default: 100 } },
    columns: [
      ['player', 'playerId'],
      'name',
      operatorColumn,
      'environment',
      ['status', 'kycStatus'],
      ['document', 'latestDocumentType'],
      ['reference', 'latestReference'],
      ['documents', 'submissions'],
      ['waiting since', 'waitingSince'],
      ['taken by', ({ taken }) => taken?.by],
      ['opens at', 'documentUrl'],
    ],
  }),
  row({
    path: 'kyc count',
    operation: operations.players.countKycQueue,
    wording: countedEnvironment,
    columns: waitingColumns,
  }),
  row({ path: 'kyc take', operation: operations.players.takeKycCase, arguments: ['playerId'] }),
  row({ path: 'kyc release', operation: operations.players.releaseKycCase, arguments: ['playerId'] }),
  row({
    path: 'kyc decide',
    operation: operations.players.decideKyc,
    arguments: ['playerId'],
    either: ['status'],
    fixed: { submission: undefined },
    look: ({ playerId }, session) => session.call(operations.players.showPlayer, { playerId }),
    confirm: ({ status }, { name, submissions: [latest] }) =>
      `${name}, ${latest === undefined ? 'who has submitted nothing' : `${latest.documentType} “${latest.reference}” of ${latest.submittedAt}`}: ${status}.`,
    run: ({ session, input, seen: { submissions }, operationId }) =>
      session.call(operations.players.decideKyc, { ...input, submission: submissions[0]?.id ?? null }, operationId),
  }),
]
