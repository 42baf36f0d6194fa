import { type OperatorRecord, operations } from '@backoffice/contracts'
import { print, printRecord, printSection } from '../output.ts'
import { row } from '../row.ts'

const {
  createOperator,
  listOperators,
  getOperator,
  suspendOperator,
  activateOperator,
  setOperatorLimits,
  setReplayProtection,
} = operations.gateway

const { setDocumentUrl, showDocumentUrl } = operations.players

/** In this group the operator is what a command is about. */
const byName = { operatorId: { flags: '--name <name>' } } as const

export const operators = [
  row({
    path: 'operators create',
    operation: createOperator,
    wording: { allowedAddresses: { help: 'permitted addresses; any when absent' } },
    show: ({ name, operatorId, allowedAddresses = [], sandbox, production }) => {
      printRecord({ name, operatorId, allowedAddresses: allowedAddresses.join(' ') || 'any' })
      for (const [environment, pair] of Object.entries({ sandbox, production })) {
        if (pair === null) {
          print(`\n${environment}: after homologation, by two people, with credentials issue and webhook rotate-secret`)
          continue
        }
        print(`\n${environment} (shown once)\n`)
        printRecord(pair)
      }
    },
  }),
  row({
    path: 'operators list',
    operation: listOperators,
    columns: [
      'name',
      'id',
      'status',
      ['per minute', 'rateLimitPerMinute'],
      ['addresses', ({ allowedAddresses }) => allowedAddresses.join(' ') || 'any'],
      ['active keys', ({ credentials }) => credentials.filter(({ revokedAt }) => revokedAt === null).length],
      ['created', 'createdAt'],
    ],
  }),
  row({ path: 'operators show', operation: getOperator, arguments: ['name'], show: showOperator }),
  row({
    path: 'operators suspend',
    operation: suspendOperator,
    either: ['operatorId'],
    wording: byName,
    show: showOperator,
  }),
  row({
    path: 'operators activate',
    operation: activateOperator,
    either: ['operatorId'],
    wording: byName,
    show: showOperator,
  }),
  row({
    path: 'operators limits',
    operation: setOperatorLimits,
    either: ['operatorId'],
    wording: byName,
    switches: [{ flags: '--allow-any-ip', help: 'permit every address', gives: { allowedAddresses: [] } }],
    show: showOperator,
  }),
  row({
    path: 'operators replay-protection',
    operation: setReplayProtection,
    arguments: ['operatorId', 'replayProtection'],
    wording: byName,
    show: showOperator,
  }),
  row({
    path: 'operators document-url',
    operation: setDocumentUrl,
    arguments: ['operatorId', 'template'],
    wording: { ...byName, template: { flags: '--template <template>', help: 'https, with {reference} once; or none' } },
  }),
  row({
    path: 'operators show-document-url',
    operation: showDocumentUrl,
    arguments: ['operatorId'],
    wording: byName,
  }),
]

function showOperator({ brands, credentials, ...operator }: OperatorRecord): void {
  printRecord(operator)
  printSection('', brands, ['environment', ['brand', 'id'], 'name', 'currency', ['time zone', 'timeZone']])
  printSection('', credentials, [
    'environment',
    'key',
    ['created', 'createdAt'],
    ['last used', lastUse],
    ['revoked', 'revokedAt'],
  ])
}

const lastUse = ({ lastUsedAt }: OperatorRecord['credentials'][number]): string | undefined =>
  lastUsedAt === undefined ? undefined : (lastUsedAt ?? 'never')
