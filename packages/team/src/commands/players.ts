import { operations } from '@backoffice/contracts'
import { printRecord, printSection } from '../output.ts'
import { row } from '../row.ts'

const { showPlayer, listPlayers, setPlayerStatus, selfExcludePlayer, setDailyLimit } = operations.players

export const players = [
  row({
    path: 'players show',
    operation: showPlayer,
    arguments: ['playerId'],
    show: ({ submissions, changes, ...player }) => {
      printRecord(player)
      printSection('documents', submissions, [['at', 'submittedAt'], ['type', 'documentType'], 'reference'])
      printSection('history', changes, ['at', ['who', 'actor'], ['what', 'field'], 'from', 'to', ['why', 'reason']])
    },
  }),
  row({
    path: 'players list',
    operation: listPlayers,
    columns: [
      ['player', 'id'],
      'externalId',
      'name',
      'status',
      ['kyc', 'kycStatus'],
      ['limit', 'dailyDepositLimit'],
      ['created', 'createdAt'],
    ],
  }),
  row({ path: 'players status', operation: setPlayerStatus, arguments: ['playerId', 'status'] }),
  row({
    path: 'players self-exclude',
    operation: selfExcludePlayer,
    arguments: ['playerId'],
    wording: { until: { help: 'date or ISO 8601 time; for good when absent' } },
    confirm: ({ playerId, until }) => `Exclude ${playerId} ${until === null ? 'for good' : `until ${until}`}?`,
  }),
  row({ path: 'players limit', operation: setDailyLimit, arguments: ['playerId', 'dailyDepositLimit'] }),
]
