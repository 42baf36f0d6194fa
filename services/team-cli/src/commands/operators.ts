import { type OperatorRecord, operations, type Reply, type ServiceName, serviceNames } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import { print, printRecord, printSection } from '../output.ts'
import { listed, row } from '../row.ts'
import type { Session } from '../session.ts'

const {
  createOperator,
  getOperator,
  suspendOperator,
  activateOperator,
  setOperatorLimits,
  setReplayProtection,
  showHomologation,
} = operations.gateway

const { setDocumentUrl, showDocumentUrl } = operations.players

/** In this group the operator is what a command is about. */
const byName = { operatorId: { flags: '--name <name>' } } as const
/** A command that answers with the operator. */
const ofOperator = { wording: byName, show: showOperator }

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
  listed(lists.operators),
  row({ path: 'operators show', operation: getOperator, arguments: ['name'], show: showOperator }),
  row({
    path: 'operators homologation',
    operation: showHomologation,
    either: ['operatorId'],
    wording: byName,
    show: showProofs,
  }),
  row({ path: 'operators suspend', operation: suspendOperator, either: ['operatorId'], ...ofOperator }),
  row({ path: 'operators activate', operation: activateOperator, either: ['operatorId'], ...ofOperator }),
  row({
    path: 'operators limits',
    operation: setOperatorLimits,
    either: ['operatorId'],
    switches: [{ flags: '--allow-any-ip', help: 'permit every address', gives: { allowedAddresses: [] } }],
    ...ofOperator,
  }),
  row({
    path: 'operators replay-protection',
    operation: setReplayProtection,
    arguments: ['operatorId', 'replayProtection'],
    ...ofOperator,
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

function showOperator({ brands, credentials, storedToday = [], ...operator }: OperatorRecord): void {
  printRecord(operator)
  printSection('stored today (UTC)', storedToday, [
    'environment',
    'bytes',
    ['of', 'bytesMax'],
    'rows',
    ['of', 'rowsMax'],
  ])
  printSection('', brands, ['environment', ['brand', 'id'], 'name', 'currency', ['time zone', 'timeZone']])
  printSection('', credentials, [
    'environment',
    'key',
    ['created', 'createdAt'],
    ['last used', lastUse],
    ['revoked', 'revokedAt'],
  ])
}

function showProofs({ checks, proved, ...homologation }: Reply<typeof showHomologation>): void {
  const missing = checks.filter(({ firstAt }) => firstAt === null)
  printRecord({ ...homologation, proved: `${proved} of ${checks.length}` })
  printSection(
    'proved',
    checks.filter(({ firstAt }) => firstAt !== null),
    ['check', ['first', 'firstAt'], 'proof', ['latest', 'lastAt']],
  )
  printSection('to do', missing, ['check', ['what', 'toDo'], 'guide'])
}

const lastUse = ({ lastUsedAt }: OperatorRecord['credentials'][number]): string | undefined =>
  lastUsedAt === undefined ? undefined : (lastUsedAt ?? 'never')

export const requests = [
  listed(lists.refusedRequests),
  row({
    path: 'requests count',
    operation: operations.gateway.countRefusals,
    columns: [['operator', 'operatorName'], 'code', 'refused', ['last at', 'lastAt']],
  }),
  listed(lists.idempotencyKeys, { arguments: ['key'] }),
]

export const credentials = [
  row({ path: 'credentials issue', operation: operations.gateway.issueCredential }),
  row({
    path: 'credentials revoke',
    operation: operations.gateway.revokeCredential,
    arguments: ['key'],
    confirm: ({ key }) => `Revoke ${key}?`,
  }),
]

const { rewrapSecrets } = operations.gateway
const { rewrapWebhookSecrets } = operations.webhooks

export const secrets = [
  row({
    path: 'secrets rewrap',
    operation: rewrapSecrets,
    also: [rewrapWebhookSecrets, ...serviceNames.map((name) => operations[name].sealStoredData)],
    description:
      'Encrypt every secret, and all personal data that are to be sealed, under the newest master key; older keys may be removed then',
    run: async ({ session, input, operationId }) => {
      const { keyId, rewrapped: operatorSecrets } = await session.call(rewrapSecrets, input, operationId)
      const { rewrapped: webhookSecrets } = await session.call(rewrapWebhookSecrets, input, operationId)
      let personalRows = 0
      for (const name of serviceNames) personalRows += await sealAll(session, name, input)
      return { keyId, operatorSecrets, webhookSecrets, personalRows }
    },
  }),
]

/** Part by part, so that no call lasts long. A call that is repeated seals nothing twice. */
async function sealAll(session: Session, name: ServiceName, input: { readonly reason?: string }): Promise<number> {
  let total = 0
  for (let place = {}; ; ) {
    const { sealed, nextCursor } = await session.call(
      operations[name].sealStoredData,
      { ...input, ...place },
      undefined,
    )
    total += sealed
    if (nextCursor === null) return total
    place = { after: nextCursor }
  }
}

const { setGameAvailability } = operations.players

export const games = [
  row({
    path: 'games enable',
    operation: setGameAvailability,
    description: "Put a game into a brand's catalogue",
    arguments: ['gameId'],
    fixed: { available: true },
  }),
  row({
    path: 'games disable',
    operation: setGameAvailability,
    description: "Take a game out of a brand's catalogue",
    arguments: ['gameId'],
    fixed: { available: false },
  }),
]
