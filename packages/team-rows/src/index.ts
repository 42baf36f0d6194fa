import {
  type Environment,
  type Operation,
  type OwnSession,
  operations,
  pendingCountedMax,
  providerErrorCodes,
  publicErrorCodes,
  type Reply,
  type ServiceName,
  type TeamMember,
} from '@backoffice/contracts'

export * from './names.ts'

const { gateway, payments, players, reconciler, wallet, webhooks } = operations

export type Listed<O extends Operation> =
  Reply<O> extends { readonly data: readonly (infer Row extends object)[] } ? Row : never

/**
 * A column: a field of a row under its own name; or its name, and the field or what stands there, several texts beside or
 * below each other. `environment` is that of the page; the command line shows all.
 */
export type Column<Row> =
  | (keyof Row & string)
  | readonly [
      name: string,
      shown: (keyof Row & string) | ((row: Row, environment?: Environment) => Shown | readonly Shown[]),
    ]
type Shown = string | number | boolean | null | undefined

/** A list of the team: the command that prints it, and the page that shows it. */
export interface List<O extends Operation = Operation, Row = Listed<O>> {
  /** The words that are typed. */
  readonly command: `${string} ${string}`
  readonly operation: O
  /** What tells one row from another stands first. */
  readonly columns: readonly Column<Row>[]
  /** What a row is named by in other commands: they begin with it, and a page leads to `opens`. */
  readonly id?: keyof Row & string
  /** What a page has no room for. */
  readonly more?: readonly Column<Row>[]
  /** What a page folds, and a table of the command line has no room for. */
  readonly folded?: readonly (keyof Row & string)[]
  /**
   * By the names of the page's address: the field of the operation. `operator` is given by a name; days by `period`, of which
   * two fields are the beginning and the end.
   */
  readonly filters?: Readonly<Record<string, string>>
  /** The values of a filter whose schema does not list them. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  readonly period?: readonly [from: string, to: string]
  /** The page of a row, without the environment. */
  readonly opens?: (row: Row) => string
}

const list = <O extends Operation>(operation: O, given: Omit<List<O>, 'operation'>): List<O> => ({
  operation,
  ...given,
})

/** A row that each service keeps for itself. */
type OfService<O extends Operation> = Listed<O> & { readonly service: ServiceName }
const ofServices = <O extends Operation>(
  operation: O,
  given: Omit<List<O, OfService<O>>, 'operation'>,
): List<O, OfService<O>> => ({ operation, ...given })

/** The name of a row's operator; its id while the gateway, which knows the names, does not answer. */
export const operator = [
  'operator',
  ({ operatorName, operatorId }: { readonly operatorName?: string | null; readonly operatorId: string | null }) =>
    operatorName ?? operatorId,
] as const

/** Who sent a request: an operator or a provider of games. */
const sender = [
  'sender',
  (row: Parameters<(typeof operator)[1]>[0] & Partial<Record<'providerId' | 'providerName', string | null>>) =>
    operator[1](row) ?? row.providerName ?? row.providerId,
] as const

/** The status of a record, which is the former one while its last decision is being carried out. */
const settledStatus = [
  'status',
  ({ status, settling }: { readonly status: string; readonly settling: boolean }) => [
    status,
    settling ? 'settling' : null,
  ],
] as const

/** A name, where the service of the list knows it or it was read besides, and the id. */
const player = [
  'player',
  ({ playerName, playerId }: { readonly playerName?: string | null; readonly playerId: string }) => [
    playerName,
    playerId,
  ],
] as const

/** What an entry of a ledger belongs to. */
export const reference = [
  'reference',
  ({ reference: { type, id } }: { readonly reference: { readonly type: string; readonly id: string } }) =>
    `${type} ${id}`,
] as const

const destination = [
  'destination',
  ({ destination, method }: { readonly destination: string; readonly method: string }) => [destination, method],
] as const

/** Of what was played, as `withNames` has read it. A page has cells of its own for these. */
const provider = [
  'provider',
  (row: { readonly providerName?: string | null; readonly providerId: string | null }) =>
    row.providerName ?? row.providerId,
] as const
const brand = [
  'brand',
  (row: { readonly brandName?: string | null; readonly brandId: string | null }) => row.brandName ?? row.brandId,
] as const

/** Of a call: the record, whose it is and how much, as `withNames` has read it. */
const subject = [
  'subject',
  (row: { readonly about?: string; readonly subject: string | null }) => row.about ?? row.subject,
] as const
const aboutOrInput = ({ about, input }: { readonly about?: string; readonly input: unknown }) =>
  about ?? JSON.stringify(input)

/** Approve, reject or pay: one operation decides about withdrawals, and one about identities. */
export function decisionIn(input: unknown): string | undefined {
  const { decision, status } = (input ?? {}) as { readonly decision?: string; readonly status?: string }
  return decision ?? status
}

/** The lists of the team, each by what is listed. No page shows the commands that wait. */
export const lists = {
  deposits: list(payments.listDeposits, {
    command: 'deposits list',
    id: 'id',
    columns: ['externalReference', 'amount', settledStatus, player, 'createdAt', operator, 'method'],
    filters: { operator: 'brandId', state: 'status', method: 'method', player: 'playerId' },
    period: ['from', 'to'],
    opens: ({ id }) => `/deposits/${id}`,
  }),
  withdrawals: list(payments.listWithdrawals, {
    command: 'withdrawals list',
    id: 'id',
    columns: [player, 'amount', settledStatus, destination, 'createdAt', 'reason', operator],
    more: ['environment', 'approvedBy'],
    filters: { operator: 'operatorId', state: 'status', player: 'playerId' },
    period: ['from', 'to'],
    opens: ({ id }) => `/withdrawals/${id}`,
  }),
  waitingWithdrawals: list(payments.withdrawalQueue, {
    command: 'withdrawals queue',
    id: 'id',
    columns: [
      player,
      ['waitingFor', 'createdAt'],
      'amount',
      'withdrawable',
      destination,
      'kycStatus',
      'approvedBy',
      ['paymentFile', ({ paymentFile }) => paymentFile?.id],
      operator,
    ],
    more: ['environment', 'available', 'playerStatus'],
    opens: ({ id }) => `/withdrawals/${id}`,
  }),
  identities: list(players.kycQueue, {
    command: 'kyc queue',
    columns: [
      ['player', ({ name, playerId }) => [name, playerId]],
      'waitingSince',
      ['documentOf', ({ latestDocumentType, latestReference }) => [latestDocumentType, latestReference]],
      ['taken', ({ taken }) => taken?.by],
      'kycStatus',
      'submissions',
      operator,
    ],
    more: ['environment', 'documentUrl'],
    opens: ({ playerId }) => `/kyc/${playerId}`,
  }),
  players: list(players.listPlayers, {
    command: 'players list',
    id: 'id',
    columns: [
      'name',
      'status',
      'kycStatus',
      [
        'selfExclusion',
        ({ selfExclusion }) => selfExclusion && [selfExclusion.from, selfExclusion.until ?? 'for good'],
      ],
      'createdAt',
      operator,
      'externalId',
    ],
    more: ['environment', ['limit', 'dailyDepositLimit']],
    filters: { operator: 'brandId', status: 'status', kycStatus: 'kycStatus', externalId: 'externalId' },
    period: ['from', 'to'],
    opens: ({ id }) => `/players/${id}`,
  }),
  foundPlayers: list(players.searchPlayers, {
    command: 'players search',
    id: 'id',
    columns: ['name', operator, 'externalId', 'status', 'kycStatus', 'createdAt'],
    more: ['environment', 'cpf', 'email'],
    opens: ({ id }) => `/players/${id}`,
  }),
  entries: list(wallet.listEntries, {
    command: 'wallet entries',
    columns: ['createdAt', 'type', 'amount', 'balanceAfter', reference, 'by', 'reason'],
    more: ['transferId', 'approvedBy'],
    filters: { type: 'type' },
    period: ['from', 'to'],
    opens: ({ playerId, transferId }) => `/players/${playerId}/entries/${transferId}`,
  }),
  reconciliations: list(reconciler.listReconciliations, {
    command: 'wallet reconciliations',
    id: 'runId',
    columns: [
      'startedAt',
      [
        'result',
        ({ state, differencesIn }) => [
          state,
          differencesIn && `${differencesIn.production} in production, ${differencesIn.sandbox} in the sandbox`,
        ],
      ],
      'kind',
      'startedBy',
      'endedAt',
    ],
    opens: ({ runId }) => `/reconcile/${runId}`,
  }),
  operators: list(gateway.listOperators, {
    command: 'operators list',
    columns: [
      'name',
      'status',
      // Where it is called otherwise than its operator.
      [
        'brand',
        ({ brands, name }, of) => brands.filter((one) => isOf(of)(one) && one.name !== name).map((one) => one.name),
      ],
      'rateLimitPerMinute',
      ['keys', ({ credentials }, of) => credentials.filter(isOf(of)).filter((key) => key.revokedAt === null).length],
      'createdAt',
    ],
    more: ['id', ['allowedAddresses', ({ allowedAddresses }) => allowedAddresses.join(' ') || 'any']],
    opens: ({ id }) => `/operators/${id}`,
  }),
  refusedRequests: list(gateway.listRefusedRequests, {
    command: 'requests list',
    columns: [
      'code',
      ['operation', ({ operation, method, path }) => operation ?? `${method} ${path}`],
      sender,
      ['httpStatus', 'status'],
      'at',
      'requestId',
    ],
    more: [
      ...(['environment', 'path', 'fields', 'hint'] as const),
      ['canonicalString', ({ canonicalString }) => canonicalString?.replaceAll('\n', ' ')],
      'verified',
    ],
    filters: { operator: 'operatorId', provider: 'providerId', code: 'code' },
    choices: { code: [...new Set([...publicErrorCodes, ...providerErrorCodes])].sort() },
    opens: ({ requestId }) => `/requests/${requestId}`,
  }),
  idempotencyKeys: list(gateway.findIdempotencyKey, {
    command: 'requests key',
    columns: [
      'operation',
      ['operator', 'operatorName'],
      ['httpStatus', 'status'],
      'code',
      ...(['requestId', 'expiresAt'] as const),
    ],
    more: ['environment', 'recordId'],
  }),
  providers: list(gateway.listProviders, {
    command: 'providers list',
    columns: [
      'name',
      'status',
      ['brands', ({ grants }, of) => grants.filter(isOf(of)).filter(({ status }) => status === 'active').length],
      ['keys', ({ keys }, of) => keys.filter(isOf(of)).filter((key) => key.revokedAt === null).length],
      ...(['stakesPerMinute', 'othersPerMinute', 'createdAt'] as const),
    ],
    more: ['id', ['allowedAddresses', ({ allowedAddresses }) => allowedAddresses.join(' ') || 'any']],
    opens: ({ id }) => `/providers/${id}`,
  }),
  gameProviders: list(players.listGameProviders, {
    command: 'games list',
    columns: ['name', provider, 'rtp', 'studio', 'gameId'],
    opens: ({ gameId }) => `/games/${gameId}`,
  }),
  rounds: list(wallet.listRounds, {
    command: 'rounds list',
    id: 'id',
    columns: [
      'roundId',
      ...(['state', 'staked', 'won', 'openedAt'] as const),
      ['game', (row: { readonly gameName?: string | null; readonly gameId: string }) => [row.gameName, row.gameId]],
      player,
      provider,
      brand,
      'plays',
    ],
    more: ['rolledBack', 'currency', 'closedAt', 'closedBy'],
    filters: { operator: 'brandId', provider: 'providerId', state: 'state', player: 'playerId' },
    opens: ({ id }) => `/rounds/${id}`,
  }),
  plays: list(wallet.listPlays, {
    command: 'play list',
    id: 'id',
    columns: [
      ['at', 'createdAt'],
      ['play', ({ kind, winKind }) => winKind ?? kind],
      ['outcome', ({ outcome, code, refusedDetails }) => [code ?? outcome, refusedDetails]],
      ['requested', 'requestedAmount'],
      'transactionId',
      'roundId',
      player,
      provider,
      brand,
      'requestId',
    ],
    opens: ({ round, playerId }) => (round === null ? `/players/${playerId}` : `/rounds/${round}`),
  }),
  openRounds: list(wallet.countOpenRounds, {
    command: 'rounds open',
    columns: [provider, brand, 'open', 'oldestAt'],
  }),
  heldWins: list(wallet.listHeldWins, {
    command: 'wins held',
    columns: ['transactionId', 'amount', ['heldSince', 'firstAt'], player, provider, brand, 'roundId', 'releasedAt'],
    opens: ({ providerId, brandId, transactionId }) =>
      `/held-wins/one?${new URLSearchParams({ provider: providerId, brand: brandId, transaction: transactionId })}`,
  }),
  winLimits: list(wallet.listWinLimits, {
    command: 'wins limits',
    columns: [provider, brand, 'maxWin'],
  }),
  playDays: list(wallet.listPlayDays, {
    command: 'play days',
    columns: [
      'day',
      provider,
      ...(['rounds', 'bets', 'wins', 'rollbacks', 'ggr', 'jackpots', 'promotions', 'currency'] as const),
    ],
  }),
  endpoints: list(webhooks.listEndpoints, {
    command: 'webhook list',
    columns: [
      ['operator', (row) => [operator[1](row), row.url]],
      ['health', ({ enabled, breaker, disabledReason }) => [enabled ? breaker.state : 'disabled', disabledReason]],
      ['failures', ({ breaker }) => breaker.consecutiveFailures || null],
      ['failingSince', ({ breaker }) => breaker.failingSince],
      ['latestFault', ({ lastFault }) => lastFault && [lastFault.at, lastFault.responseStatus ?? lastFault.error]],
      ['retryAt', ({ breaker }) => breaker.retryAt],
      ['pending', ({ pending }) => (pending < pendingCountedMax ? pending : `${pending}+`)],
      'oldestPendingAt',
    ],
    opens: ({ operatorId }) => `/operators/${operatorId}`,
  }),
  deliveries: list(webhooks.listDeliveries, {
    command: 'deliveries list',
    id: 'id',
    columns: [
      ['event', ({ type, eventId }) => [type, eventId]],
      operator,
      ...(['eventCreatedAt', 'state', 'attempts'] as const),
      ['lastFault', ({ lastError, lastResponseStatus }) => [lastError, lastResponseStatus]],
      [
        'nextAttemptAt',
        ({ heldUntil, nextAttemptAt }) => (heldUntil === null ? nextAttemptAt : ['held until', heldUntil]),
      ],
    ],
    more: ['environment'],
    filters: { operator: 'operatorId', event: 'type', answer: 'answer' },
    period: ['since', 'until'],
    opens: ({ id }) => `/deliveries/${id}`,
  }),
  setAside: list(webhooks.listSetAside, {
    command: 'messages list',
    id: 'id',
    columns: ['setAsideAt', 'subject', 'fault', operator, 'eventId'],
    opens: ({ id }) => `/set-aside/${id}`,
  }),
  audit: ofServices(gateway.listAudit, {
    command: 'audit list',
    columns: [
      'at',
      'actor',
      ['operation', ({ operation, service, input }) => [decisionIn(input), `${service}.${operation}`]],
      subject,
      ['outcome', ({ outcome, tool }) => [outcome, tool]],
      [
        'changes',
        ({ changes }) =>
          changes?.map(({ field, before, after }) => `${field}: ${before ?? '–'} → ${after ?? '–'}`).join('; '),
      ],
    ],
    folded: ['input'],
    more: ['reason', 'proposedBy', 'proposalReason', 'operationId'],
  }),
  proposals: ofServices(gateway.listProposals, {
    command: 'proposals list',
    id: 'id',
    columns: [
      'proposedAt',
      ['proposal', ({ service, operation, ...call }) => [`${service}.${operation}`, aboutOrInput(call)]],
      ...(['reason', 'proposedBy', 'expiresAt', 'state', 'decidedBy', 'decidedAt'] as const),
    ],
    opens: ({ id }) => `/proposals/${id}`,
  }),
  commands: ofServices(payments.listCommands, {
    command: 'commands list',
    id: 'id',
    columns: ['operation', 'service', subject, 'createdAt', 'attempts', 'lastFault', 'requestId'],
    more: ['environment'],
  }),
  ownSessions: list(gateway.listOwnSessions, {
    command: 'sessions own',
    id: 'session',
    columns: ['client', 'begunAt', 'firstUsedAt', 'endsAt'],
    opens: ({ session }) => `/sessions/${session}`,
  }),
} as const

const isOf =
  (environment: Environment | undefined) =>
  (one: { readonly environment: string }): boolean =>
    environment === undefined || one.environment === environment

export const nameOf = <Row>(column: Column<Row>): string => (typeof column === 'string' ? column : column[0])

/** All of a list for people who read text: a title for each column, and what a row shows there. */
export const textColumns = <O extends Operation, Row>({ id, columns, more = [] }: List<O, Row>) =>
  [...(id === undefined ? [] : [id]), ...columns, ...more].map(
    (column) => [titleOf(nameOf(column)), (row: Row) => textOf(row, column)] as const,
  )

/** `createdAt` as people read it. */
const titleOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

function textOf<Row>(row: Row, column: Column<Row>): unknown {
  const shown = typeof column === 'string' ? column : column[1]
  const value = typeof shown === 'function' ? shown(row) : row[shown]
  return Array.isArray(value)
    ? value.filter((part) => part !== null && part !== undefined && part !== '').join(' ')
    : value
}

const oldestFirst = (a: TeamMember, b: TeamMember): number => a.latestSessionAt.localeCompare(b.latestSessionAt)

/** Each service knows the sessions that have called it: of all of them, everybody with their latest, which comes first. */
export function membersIn(replies: readonly { readonly data: readonly TeamMember[] }[]): readonly TeamMember[] {
  const found = replies.flatMap(({ data }) => data).sort(oldestFirst)
  const members = new Map(found.map((member) => [`${member.kind} ${member.name} ${member.id}`, member]))
  return [...members.values()].sort(oldestFirst).reverse()
}

/** One's own sessions of all services, each as the first service had it. The latest comes first. */
export function ownSessionsIn(replies: readonly { readonly data: readonly OwnSession[] }[]): readonly OwnSession[] {
  const latestFirst = replies.flatMap(({ data }) => data).sort((a, b) => b.firstUsedAt.localeCompare(a.firstUsedAt))
  const sessions = new Map(latestFirst.map((one) => [one.session, one]))
  return [...sessions.values()].sort((a, b) => b.begunAt.localeCompare(a.begunAt))
}

/** As the trails are ordered, so that the last entry shown is where the next page begins. */
export const newestEntryFirst = (a: { at: string; id: string }, b: { at: string; id: string }): number =>
  b.at.localeCompare(a.at) || (a.id < b.id ? 1 : -1)
