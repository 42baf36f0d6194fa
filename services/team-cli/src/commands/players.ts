import { defined, operations, type Reply, seenOfSubmission } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import { exporting, printJson, printRecord, printSection } from '../output.ts'
import { countedEnvironment, decisionColumns, listed, ofAllOperators, row, type Work, waitingColumns } from '../row.ts'

const { showPlayer, listGameSessions, exportPlayer } = operations.players
const { setPlayerStatus, selfExcludePlayer, setDailyLimit, anonymisePlayer } = operations.players

/** The services that keep rows about a player. */
const keepers = ['players', 'payments', 'wallet'] as const

export const players = [
  row({
    path: 'players raised',
    operation: operations.players.listRaisedLimits,
    columns: ['at', 'name', 'playerId', 'operatorName', 'previous', 'next', 'currency', 'actor'],
  }),
  row({
    path: 'players show',
    operation: showPlayer,
    arguments: ['playerId'],
    show: ({ submissions, changes, ...player }) => {
      printRecord(player)
      printSection('documents', submissions, [
        ['at', 'submittedAt'],
        ['type', 'documentType'],
        'reference',
        ['opens at', 'documentUrl'],
      ])
      printSection('history', changes, ['at', ['who', 'actor'], ['what', 'field'], 'from', 'to', ['why', 'reason']])
    },
  }),
  listed(lists.players, { wording: { environment: { default: 'production' } } }),
  listed(lists.foundPlayers, { fixed: { brandId: undefined } }),
  row({
    path: 'players sessions',
    operation: listGameSessions,
    arguments: ['playerId'],
    columns: [
      ['session', 'id'],
      ['game', ({ gameId, gameName }) => gameName ?? gameId],
      'mode',
      ['opened', 'createdAt'],
      ['expires', 'expiresAt'],
    ],
  }),
  row({
    path: 'players export',
    operation: exportPlayer,
    also: keepers.map((service) => operations[service].exportPlayer),
    description: 'Write everything that all services keep of one player, as one JSON document',
    arguments: ['playerId'],
    fixed: { after: undefined },
    run: exportAll,
    show: printJson,
  }),
  row({ path: 'players status', operation: setPlayerStatus, arguments: ['playerId', 'status'] }),
  row({
    path: 'players self-exclude',
    operation: selfExcludePlayer,
    arguments: ['playerId'],
    wording: { until: { help: 'date or ISO 8601 time; for good when absent' } },
    confirm: ({ playerId, until }) => `Exclude ${playerId} ${until === null ? 'for good' : `until ${until}`}?`,
  }),
  row({
    path: 'players anonymise',
    operation: anonymisePlayer,
    arguments: ['playerId'],
    confirm: ({ playerId }) => `Replace everything that identifies ${playerId}?`,
  }),
  row({ path: 'players limit', operation: setDailyLimit, arguments: ['playerId', 'dailyDepositLimit'] }),
]

/** Reads the pages of each service. The rows are as they are stored, by service and table. */
async function exportAll({ session, input }: Work<typeof exportPlayer>) {
  const stored: Record<string, object> = {}
  using progress = exporting('player export')
  for (const [index, service] of keepers.entries()) {
    const rows: Reply<typeof exportPlayer>['rows'] = []
    let after: string | undefined
    do {
      const page = await session.call(operations[service].exportPlayer, defined({ ...input, after }))
      rows.push(...page.rows)
      progress.at(`${rows.length} rows of ${service}`, index / keepers.length)
      after = page.nextCursor ?? undefined
    } while (after !== undefined)
    const tables = Map.groupBy(rows, ({ table }) => table)
    stored[service] = Object.fromEntries(
      [...tables].map(([table, found]) => [table, found.map(({ values }) => values)]),
    )
  }
  return { playerId: input.playerId, exportedAt: new Date().toISOString(), ...stored }
}

export const kyc = [
  listed(lists.identities, {
    fixed: ofAllOperators.fixed,
    wording: { ...ofAllOperators.wording, limit: { default: 100 } },
  }),
  row({
    path: 'kyc count',
    operation: operations.players.countKycQueue,
    wording: countedEnvironment,
    columns: waitingColumns,
  }),
  row({
    path: 'kyc ages',
    operation: operations.players.ageKycQueue,
    columns: [['from hours', 'fromHours'], 'waiting'],
  }),
  row({ path: 'kyc times', operation: operations.players.timeKycDecisions, columns: decisionColumns }),
  row({ path: 'kyc take', operation: operations.players.takeKycCase, arguments: ['playerId'] }),
  row({ path: 'kyc release', operation: operations.players.releaseKycCase, arguments: ['playerId'] }),
  row({
    path: 'kyc decide',
    operation: operations.players.decideKyc,
    arguments: ['playerId'],
    either: ['status'],
    fixed: { submission: undefined },
    look: ({ playerId }, session) => session.call(operations.players.showPlayer, { playerId }),
    confirm: ({ status }, { name, cpf, birthDate, submissions: [latest] }) =>
      `${name} (CPF ${cpf}, born ${birthDate}), ${latest === undefined ? 'who has submitted nothing' : `${latest.documentType} “${latest.reference}” of ${latest.submittedAt}, at ${latest.documentUrl ?? 'no address'}`}: ${status}.`,
    run: ({ session, input, seen: player, operationId }) => {
      const [submission] = player.submissions
      const seen = submission === undefined ? null : seenOfSubmission({ player, submission })
      const decision = { ...input, submission: submission?.id ?? null, seen }
      return session.call(operations.players.decideKyc, decision, operationId)
    },
  }),
]
