import { operations, type ProviderRecord, playDayRows, readPlayDay } from '@backoffice/contracts'
import { lists, textColumns } from '@backoffice/team-rows'
import { stringify } from 'csv-stringify/sync'
import { followed, print, printRecord, printSection } from '../output.ts'
import { listed, row, type Work } from '../row.ts'

const { createProvider, getProvider, setProviderGrant, setProviderLimits } = operations.gateway
const { suspendProvider, activateProvider, issueProviderKey, revokeProviderKey } = operations.gateway

/** In this group the provider is what a command is about. */
const byName = { providerId: { flags: '--name <name>' } } as const
const ofProvider = { either: ['providerId'], wording: byName, show: showChanged } as const

export const providers = [
  listed(lists.providers),
  row({ path: 'providers show', operation: getProvider, arguments: ['name'], show: showProvider }),
  row({
    path: 'providers create',
    operation: createProvider,
    wording: { allowedAddresses: { help: 'permitted addresses; any when absent' } },
    show: showChanged,
  }),
  row({ path: 'providers grant', operation: setProviderGrant, ...ofProvider }),
  row({
    path: 'providers limits',
    operation: setProviderLimits,
    switches: [{ flags: '--allow-any-ip', help: 'permit every address', gives: { allowedAddresses: [] } }],
    ...ofProvider,
  }),
  row({ path: 'providers suspend', operation: suspendProvider, ...ofProvider }),
  row({ path: 'providers activate', operation: activateProvider, ...ofProvider }),
  row({ path: 'providers issue-key', operation: issueProviderKey, either: ['providerId'], wording: byName }),
  row({
    path: 'providers revoke-key',
    operation: revokeProviderKey,
    arguments: ['key'],
    confirm: ({ key }) => `Revoke ${key}?`,
  }),
]

type ChangedProvider = Omit<ProviderRecord, 'grants' | 'keys'>

/** What a change answers, which has no lists. */
function showChanged({ allowedAddresses, ...provider }: ChangedProvider): void {
  printRecord({ ...provider, allowedAddresses: allowedAddresses.join(' ') || 'any' })
}

function showProvider({ grants, keys, ...provider }: ProviderRecord): void {
  showChanged(provider)
  printSection('brands', grants, [
    'environment',
    ['operator', 'operatorName'],
    ['brand', 'brandId'],
    'status',
    ['granted', 'grantedAt'],
  ])
  printSection('keys', keys, [
    'environment',
    'key',
    ['created', 'createdAt'],
    ['last used', ({ lastUsedAt }) => lastUsedAt ?? 'never'],
    ['revoked', 'revokedAt'],
  ])
}

/** Of a game; the others of its group are with the operators, whose catalogues they change. */
export const gameProvider = [
  listed(lists.gameProviders),
  row({
    path: 'games provider',
    operation: operations.players.setGameProvider,
    arguments: ['gameId', 'providerId'],
    wording: { providerId: { help: 'name or id of the provider, or none' } },
  }),
]

const { recallRound, voidRound, endRound, releaseWin, listWinLimits, setWinLimit, exportPlayDay } = operations.wallet

export const rounds = [
  // A brand is an operator in one environment.
  listed(lists.rounds, { fixed: { brandIds: undefined } }),
  listed(lists.openRounds),
  row({
    path: 'rounds show',
    operation: recallRound,
    arguments: ['roundId'],
    show: ({ round, data }) => {
      printRecord(round)
      const plays = data.map((one) => ({ ...one, currency: round.currency }))
      printSection('plays', plays, [
        ['at', 'createdAt'],
        ['by the provider', 'providerTime'],
        ['play', ({ kind, winKind, isSpin }) => [isSpin ? 'spin:' : '', winKind ?? kind].join(' ').trim()],
        ['outcome', ({ outcome, code }) => code ?? outcome],
        ['details', 'refusedDetails'],
        'amount',
        ['before', 'balanceBefore'],
        ['after', 'balanceAfter'],
        ['transaction', 'transactionId'],
        ['bet', 'betTransactionId'],
        ['request', 'requestId'],
        ['digest', 'bodyDigest'],
        'standing',
      ])
    },
  }),
  row({
    path: 'rounds void',
    operation: voidRound,
    arguments: ['roundId'],
    confirm: ({ roundId }) => `Void ${roundId}, so that all its stakes go back to the player?`,
  }),
  row({
    path: 'rounds close',
    operation: endRound,
    arguments: ['roundId'],
    confirm: ({ roundId }) => `Close ${roundId} as it is, so that what was staked in it and not won is lost?`,
  }),
]

export const wins = [
  listed(lists.heldWins),
  row({
    path: 'wins release',
    operation: releaseWin,
    arguments: ['transactionId'],
    confirm: ({ transactionId, providerId }) =>
      `Release ${transactionId} of ${providerId}, so that it is paid when the provider sends it again?`,
  }),
  row({
    path: lists.winLimits.command,
    operation: listWinLimits,
    isNamed: true,
    show: ({ data, otherwise, nextCursor }) => {
      const more = nextCursor === null ? {} : { more: 'there are more: give a higher --limit' }
      printRecord({ otherwise: `${otherwise}, in the currency of each brand`, ...more })
      printSection('', data, textColumns(lists.winLimits))
    },
  }),
  row({
    path: 'wins limit',
    operation: setWinLimit,
    arguments: ['maxWin'],
    isNamed: true,
    show: (limit) => printSection('', [limit], textColumns(lists.winLimits)),
  }),
]

export const play = [
  listed(lists.plays, { fixed: { brandIds: undefined } }),
  listed(lists.playDays),
  row({
    path: 'play export',
    operation: exportPlayDay,
    description: "Write a brand's plays of a day as CSV, with the sums of the ledger below",
    fixed: { limit: undefined, cursor: undefined },
    run: exportAll,
    // The CSV is printed already.
    show: () => {},
  }),
]

/** Page by page, because a day may be larger than memory. JSON is one document, so it is printed at the end. */
async function exportAll({ session, input, json }: Work<typeof exportPlayDay>) {
  const read = readPlayDay((page) => session.call(exportPlayDay, page), input)
  const pages = followed('play export', read, ({ data }) => ({ rows: data.length }))
  if (!json) {
    for await (const rows of playDayRows(pages)) print(stringify([...rows]))
    return {}
  }
  const all = await Array.fromAsync(pages)
  return { data: all.flatMap(({ data }) => data), sums: all.at(-1)?.sums ?? [] }
}
