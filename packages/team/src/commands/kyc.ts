import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'

export const kyc = [
  row({
    path: 'kyc queue',
    operation: operations.players.kycQueue,
    wording: { limit: { default: 100 } },
    columns: [
      ['player', 'playerId'],
      'name',
      'environment',
      ['status', 'kycStatus'],
      ['document', 'latestDocumentType'],
      ['reference', 'latestReference'],
      ['documents', 'submissions'],
      ['waiting since', 'waitingSince'],
    ],
  }),
  row({ path: 'kyc decide', operation: operations.players.decideKyc, arguments: ['playerId'], either: ['status'] }),
]
