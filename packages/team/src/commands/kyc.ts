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
  row({ path: 'kyc decide', operation: operations.players.decideKyc, arguments: ['playerId'], either: ['status'] }),
]
