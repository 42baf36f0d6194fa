import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  allOperations,
  deliveryAnswers,
  listedStates,
  type Operation,
  operations,
  serviceNames,
  signRequest,
} from '@backoffice/contracts'
import { knownStatements } from '@backoffice/service-runtime/testing'
import {
  byTwo,
  type Callers,
  callersOf,
  eventually,
  holdWinAs,
  inputOf,
  isInputKnown,
  newCpf,
  OperatorClient,
  proposalOf,
  refusal,
  richPlayer,
  serveHttp,
  stakeAs,
  type TeamClient,
  type Teardown,
  type TestBed,
} from '@backoffice/test-kit'
import { depositRequest, endCommandOf, expectStatus, playerRequest } from '../journey.ts'
import type { services } from '../services.ts'

const person = playerRequest(undefined, '529.982.247-25')
const withdrawal = { amount: '10.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }

/** An operator of the gateway, in its sandbox. */
export interface Operator {
  readonly operatorId: string
  readonly brandId: string
  readonly get: (path: string, status?: number) => Promise<Body>
  readonly post: (path: string, status: number, body?: unknown, idempotencyKey?: string) => Promise<Body>
  readonly by: Callers
}
// biome-ignore lint/suspicious/noExplicitAny: what it reads depends on the call
type Body = any

/** Calls an operation of the team. */
type Team = (operation: Operation, input?: object) => Promise<Body>
export const teamOf =
  (bed: TestBed<typeof services>): Team =>
  (operation, input = {}) =>
    bed.team('alice').call(operation, { input: input as never })

export async function newOperator(t: Teardown, team: Team, baseUrl: string): Promise<Operator> {
  const { gateway, webhooks } = operations
  const { operatorId, sandbox } = await team(gateway.createOperator, { name: 'plans', rateLimitPerMinute: 100_000 })
  await team(webhooks.setWebhookUrl, { operatorId, environment: 'sandbox', url: await startReceiver(t) })
  const client = new OperatorClient(baseUrl, sandbox)
  t.teardown(() => client.close())
  const { brand } = expectStatus(await client.get('/me'), 200)
  return {
    operatorId,
    brandId: brand.id,
    get: async (path, status = 200) => expectStatus(await client.get(path), status),
    post: async (path, status, body = {}, idempotencyKey = randomUUID()) =>
      expectStatus(await client.post(path, body, { idempotencyKey }), status),
    by: callersOf(client, { call: (operation, { input }) => team(operation, input) } as Pick<TeamClient, 'call'>),
  }
}

/** A receiver that refuses every third delivery. */
function startReceiver(t: Teardown): Promise<string> {
  let received = 0
  return serveHttp(t, (request, response) => {
    received += 1
    request.resume().on('end', () => response.writeHead(received % 3 === 0 ? 500 : 204).end())
  })
}

/** A player who may deposit, withdraw and play. */
async function newPlayer({ post }: Operator, cpf = newCpf()): Promise<string> {
  const { id } = await post('/players', 201, playerRequest(undefined, cpf))
  await post(`/sandbox/players/${id}/kyc/decision`, 200, { status: 'aprovado' })
  return id
}

/** Calls each operation of operators; the internal ones follow from them. @returns a player */
export async function callAsOperator(operator: Operator, team: Team, gamesUrl: string): Promise<string> {
  const { get, post } = operator
  const playerId = await newPlayer(operator)
  const player = `/players/${playerId}`
  await get('/players?externalId=unknown')
  const { id: other } = await post('/players', 201, person)
  await post(`/players/${other}/kyc/submissions`, 201, { documentType: 'rg', reference: 'doc-1' })
  await get(`${player}/kyc`)

  const { id: depositId } = await post(`${player}/deposits`, 201, depositRequest('100.00'))
  await post(`/deposits/${depositId}/confirm`, 200)
  await post(`/deposits/${(await post(`${player}/deposits`, 201, depositRequest('5.00'))).id}/fail`, 200)
  await get(`${player}/wallet`)
  const { id: withdrawalId } = await post(`${player}/withdrawals`, 201, withdrawal)
  for (const decision of ['approve', 'pay'])
    await post(`/sandbox/withdrawals/${withdrawalId}/decision`, 200, { decision })
  await post(`/withdrawals/${(await post(`${player}/withdrawals`, 201, withdrawal)).id}/cancel`, 200)
  await post(`${player}/withdrawals`, 422, { ...withdrawal, amount: '9999.00' })
  await get(`/withdrawals/${withdrawalId}`)
  const { nextCursor } = await get(`${player}/transactions?limit=1`)
  await get(`${player}/transactions?limit=1&cursor=${nextCursor}`)

  await get('/games')
  await team(operations.players.setDailyLimit, { playerId, dailyDepositLimit: '5000.00' })
  const { gameUrl } = await post(`${player}/game-sessions`, 201, { gameId: 'fortune-reels' })
  await play(gamesUrl, new URL(gameUrl).hash.slice(1))
  await post('/webhooks/test', 200)
  return playerId
}

/** What a browser asks for, until the demonstration has been played once. */
async function play(gamesUrl: string, token: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const spin = { method: 'POST', body: JSON.stringify({ stake: 100 }) }
  for (const [path, init] of [
    ['/play/session', {}],
    ['/play/spin', spin],
    ['/thumbnails/fortune-reels.svg', {}],
  ] as const) {
    const { status } = await fetch(`${gamesUrl}${path}`, { headers, ...init })
    if (status !== 200) throw new Error(`expected 200, not ${status} for ${path}`)
  }
}

/** What the list of calls knows all of, but for a reconciliation, which is waited for. */
const isPlain = (operation: Operation) =>
  operation.audience === 'team' &&
  operation.byIdentityProvider !== true &&
  operation.id !== 'reconcileWallet' &&
  isInputKnown(operation)

/** Calls each operation of the team. */
export async function callAsTeam(operator: Operator, team: Team, playerId: string): Promise<void> {
  const { operatorId, brandId } = operator
  const reason = 'plans'
  const endpoint = { operatorId, environment: 'sandbox' }
  const { gateway, players, payments, wallet, webhooks, reconciler } = operations

  // Each as the list of calls has it; then what sends other statements, or finds something.
  for (const operation of allOperations.filter(isPlain)) await team(operation, await inputOf(operator.by, operation))
  const { credentials } = await team(gateway.getOperator, { name: operatorId })
  await team(gateway.getOperator, { name: credentials[0]?.key ?? '' })
  await team(gateway.listRefusedRequests, { operatorId, environment: 'sandbox', limit: 10 })
  await team(gateway.listRefusedRequests, { requestId: 'req_x', limit: 1 })
  await team(gateway.findIdempotencyKey, { key: 'order-4711' })
  await team(gateway.setOperatorLimits, { operatorId, rateLimitPerMinute: 99_999, storedRowsPerDay: 1 })
  // The limits hold within a second. Beyond a quota a key is looked for before it is claimed.
  await eventually(() => operator.post('/players', 429))
  await team(gateway.setOperatorLimits, { operatorId, storedRowsPerDay: 1_000_000 })
  await team(gateway.setReplayProtection, { operatorId, replayProtection: 'on' })
  // The setting holds within a second. Requests without a key have a statement of their own for their signatures.
  await eventually(async () => {
    await operator.post('/webhooks/test', 200)
    return isSent('select key from remembered')
  })
  // To switch it off takes two.
  await proposalOf(team(gateway.setReplayProtection, { operatorId, replayProtection: 'off' }))
  const statuses = [{ status: 'autoexcluido' }, { status: 'ativo' }, { status: 'suspenso' }] as const
  for (const filter of [{}, ...statuses, { kycStatus: 'aprovado' }, { kycStatus: 'expirado' }] as const)
    for (const whose of [{ brandId }, { environment: 'sandbox' }])
      await team(players.listPlayers, { ...whose, ...filter, limit: 10 })
  await team(players.listPlayers, { externalId: 'unknown', limit: 10 })
  for (const by of [{ playerId }, { externalId: 'unknown' }, { name: 'ana sou' }])
    await team(players.searchPlayers, { ...by, limit: 10 })
  for (const by of [{ cpf: person.cpf }, { email: person.email }, { phone: '+5511987654321' }])
    await team(players.searchPlayers, { ...by, reason, limit: 10 })
  await team(players.namePlayers, { players: [{ playerId, brandId: null }] })
  await team(players.listGameSessions, { playerId, limit: 10 })
  for (const order of ['oldest', 'newest']) await team(players.kycQueue, { order, limit: 10 })
  const submission = (await team(players.showPlayer, { playerId })).submissions[0]?.id ?? null
  await team(players.decideKyc, { playerId, submission, status: 'aprovado', reason, restsOn: reason })

  await team(payments.listDeposits, { brandId, limit: 10 })
  await team(payments.listDeposits, { brandId, externalReference: 'unknown', limit: 10 })
  await team(payments.listDeposits, { externalReference: 'unknown', limit: 10 })
  const rare = { environment: 'sandbox', status: 'pending', method: 'rare' }
  for (const which of [{}, rare, { playerId }, { playerId, externalReference: 'unknown' }])
    await team(payments.listDeposits, { ...which, limit: 10 })
  await team(wallet.listMoneyDays, { environment: 'sandbox', brandId })
  for (const order of ['oldest', 'newest', 'largest', 'smallest'])
    for (const page of [{}, { after: 'wdr_01m00000000000000000000000' }])
      await team(payments.withdrawalQueue, { order, ...page, limit: 10 })
  await team(payments.withdrawalQueue, { status: 'approved', payable: true, limit: 10 })
  await team(payments.withdrawalQueue, { status: 'approved', withoutFile: true, limit: 10 })
  for (const whose of [{}, { brandId }, { playerId }]) await team(payments.sumDeposits, { ...whose, method: 'pix' })
  for (const whose of [{}, { operatorId }, { playerId }, { queue: 'approved' }])
    await team(payments.sumWithdrawals, whose)
  for (const whose of [{}, { operatorId }, { playerId }]) await team(payments.listWithdrawals, { ...whose, limit: 10 })

  const { data } = await team(wallet.listEntries, { playerId, limit: 10 })
  await team(wallet.listEntries, { playerId, before: data[0].id, limit: 10 })
  await team(wallet.listEntries, { playerId, type: 'DEPOSIT', limit: 10 })
  await team(wallet.listEntries, { playerId, reference: 'plans', limit: 10 })
  await recallPlay(team, { brandId, playerId })
  await team(reconciler.listReconciliations, { limit: 10 })
  const { transferId } = await team(wallet.adjustWallet, { playerId, amount: '1.00', reference: 'plans', reason })
  const to = new Date(Date.now() - 120_000).toISOString()
  const period = { brandId, from: '2020-01-01T00:00:00.000Z', to, limit: 1 }
  await team(wallet.exportStatement, period)
  const cursor = `${period.from}/${transferId}`
  await team(wallet.exportStatement, { ...period, cursor })
  for (const input of [{ full: true }, { full: false }, { restoredTo: to }]) {
    const { runId } = await team(reconciler.reconcileWallet, input)
    await eventually(async () => (await team(reconciler.reconcileWallet, { runId })).state === 'done')
  }

  await team(webhooks.listEndpoints, { environment: 'sandbox', limit: 10 })
  const { data: deliveries } = await team(webhooks.listDeliveries, { limit: 10 })
  await team(webhooks.listDeliveries, { operatorId, limit: 10 })
  for (const state of listedStates) await team(webhooks.listDeliveries, { state, limit: 10 })
  for (const answer of deliveryAnswers) {
    await team(webhooks.listDeliveries, { answer, limit: 10 })
    await team(webhooks.countDeliveries, { answer, operatorId })
  }
  await team(webhooks.countDeliveries)
  await team(webhooks.showDelivery, { id: deliveries[0].id })
  await team(webhooks.resendDelivery, { id: deliveries[0].id })
  const since = '2020-01-01T00:00:00.000Z'
  await team(webhooks.resendDeliveries, { ...endpoint, ids: [deliveries[0].id], states: ['delivered'] })
  await team(webhooks.replayEvents, { ...endpoint, since })
  await team(webhooks.replayEvents, { ...endpoint, since, after: 'dlv_1' })
  for (const service of serviceNames) {
    for (const whose of [{}, { actor: 'alice' }, { subject: playerId }, { actor: 'alice', subject: playerId }])
      await team(operations[service].listAudit, { ...whose, since: period.from, limit: 10 })
    await team(operations[service].exportAudit, { from: period.from, to, limit: 10 })
    await team(operations[service].listSessions, { since: '2020-01-01T00:00:00.000Z' })
    await team(operations[service].listCommands, { limit: 10 })
  }
}

/** What the team asks about rounds and days, whether or not there are any. */
async function recallPlay(team: Team, whose: { readonly brandId: string; readonly playerId: string }): Promise<void> {
  const { listRounds, recallRound, listPlays, countOpenRounds, listPlayDays, exportPlayDay } = operations.wallet
  const named = [{ roundId: 'round-1' }, { transactionId: 'bet-1' }, { entryId: 'led_1' }]
  const { brandId, playerId } = whose
  for (const which of [{}, { brandId }, { playerId }, { state: 'open' }, { state: 'void' }, ...named])
    await team(listRounds, { ...which, limit: 10 })
  for (const which of [{}, { playerId }, { transactionId: 'bet-1' }]) await team(listPlays, { ...which, limit: 10 })
  const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10)
  await team(listPlayDays, { brandId, from: day, to: day })
  await team(exportPlayDay, { brandId, day, limit: 10 })
  await team(countOpenRounds)
  for (const [operation, input] of [
    [listRounds, { cursor: 'rnd_1' }],
    [recallRound, { roundId: 'rnd_1', cursor: 'pla_1' }],
  ] as const)
    await refusal(team(operation, { ...input, limit: 10 }))
}

/** What a provider of games sends over HTTP: its key, its grant and the stakes of the day are read for each. */
export async function callAsProvider(
  { brandId, post }: Operator,
  bed: TestBed<typeof services>,
  playerId: string,
): Promise<void> {
  const { gateway, players } = operations
  const [team, gameId] = [teamOf(bed), 'wallet-reels']
  const { id: providerId } = await team(gateway.createProvider, { name: 'plans', reason: 'plans' })
  await team(gateway.setProviderGrant, { providerId, brandId, grant: 'active' })
  await team(gateway.getProvider, { name: providerId })
  const { key, secret } = await team(gateway.issueProviderKey, { providerId, environment: 'sandbox', reason: 'plans' })
  await team(gateway.getProvider, { name: key })
  await team(players.setGameProvider, { gameId, providerId, reason: 'plans' })
  const { id: sessionId } = await post(`/players/${playerId}/game-sessions`, 201, { gameId })
  const send = async (method: 'GET' | 'POST', below: string, said?: object) => {
    const url = new URL(`${bed.services.gateway.addresses.providerUrl}/${brandId}${below}`)
    const body = said === undefined ? '' : JSON.stringify(said)
    const timestamp = String(Math.floor(Date.now() / 1_000))
    const signature = signRequest(secret, { method, path: url.pathname, timestamp, body })
    const headers = { 'X-Provider-Key': key, 'X-Timestamp': timestamp, 'X-Signature': signature }
    const json = { 'Content-Type': 'application/json' }
    const init = said === undefined ? { method, headers } : { method, headers: { ...headers, ...json }, body }
    const { status } = await fetch(url, init)
    if (status !== 200) throw new Error(`expected 200, not ${status} for ${below}`)
  }
  await send('GET', `/sessions/${sessionId}`)
  const bet = { sessionId, playerId, gameId, amount: '1.00', currency: 'BRL' }
  await send('POST', '/bets', { ...bet, transactionId: 'plans-bet', roundId: 'plans-bet' })
  await send('POST', '/spins', { ...bet, transactionId: 'plans-spin', roundId: 'plans-spin', win: '0.50' })
  await team(players.setGameProvider, { gameId, providerId: null, reason: 'plans' })
}

/** What a provider of games sends, and what the team does about it. */
async function playAndDecide({ operatorId, brandId }: Operator, bed: TestBed<typeof services>, playerId: string) {
  const { wallet } = operations
  const team = teamOf(bed)
  const scope = bed.scope({ operatorId, brandId })
  const { send, transactionId, roundId, win, providerId } = await stakeAs(bed.rpc, scope, playerId)
  await win('w', '1.00')
  const whose = { playerId, roundId }
  const named = { ...whose, betTransactionId: transactionId }
  await send(wallet.creditWin, { ...named, transactionId: 'v', amount: '1.00', currency: 'BRL' })
  await refusal(send(wallet.rollbackBet, { ...named, transactionId }))
  await send(wallet.closeRound, whose)
  await send(wallet.readTransaction, { kind: 'bet', transactionId })
  await send(wallet.listHeldRounds, { roundId })
  await refusal(send(wallet.listHeldRounds, { roundId, cursor: 'unknown' }))
  await send(wallet.listHeldRounds, { day: new Date().toISOString().slice(0, 10) })
  const { data: entries } = await team(wallet.listEntries, { playerId, type: 'BET', limit: 1 })
  await team(wallet.listEntries, { playerId, reference: entries[0].reference.id, limit: 10 })
  await team(wallet.reverseTransfer, { playerId, transferId: entries[0].id, reference: 'plans-bet', reason: 'plans' })
  for (const operation of [wallet.voidRound, wallet.endRound]) {
    const { roundId: open } = await stakeAs(bed.rpc, scope, playerId)
    const { data } = await team(wallet.listRounds, { roundId: open, limit: 1 })
    await team(operation, { roundId: data[0].id, reason: 'plans' })
  }
  const held = await holdWinAs(bed.rpc, scope, playerId)
  await team(wallet.listHeldWins, { limit: 10 })
  await team(wallet.releaseWin, { ...held, reason: 'plans' })
  await team(wallet.setWinLimit, { brandId, providerId, maxWin: '5.00', reason: 'plans' })
  await team(wallet.listRounds, { roundId, limit: 1 })
}

/** A day ends in which somebody of a brand played. */
async function closeDay({ brandId }: Operator, bed: TestBed<typeof services>): Promise<void> {
  await bed.sql('admin').query(
    `insert into wallet.play (id, provider_id, brand_id, kind, transaction_id, account_id, outcome, refused_with, body_digest,
      request_id, seq, balance_after, created_at)
    values ('pla_plans', 'prv_plans', $1, 'bet', 'plans', 1, 'refused', 'RG_BLOCKED', '\\x00', 'req_plans', 1, 0, now() - interval '3 days')`,
    [brandId],
  )
  await eventually(() => isSent('insert into play_day'))
}

/** Two people do what takes two in production: a command, and a direct operation. */
async function proposeAndApprove({ operatorId }: Operator, bed: TestBed<typeof services>): Promise<void> {
  const { issueCredential, declineProposal, listProposals, unlockTeamMember } = operations.gateway
  await byTwo(bed, unlockTeamMember, { member: 'machine plans', reason: 'plans' })
  const input = { operatorId, environment: 'production', reason: 'plans' } as const
  const propose = () => proposalOf(bed.team('alice').call(issueCredential, { input }))
  await byTwo(bed, issueCredential, input)
  const { proposalId } = await propose()
  await bed.team('bob').call(declineProposal, { input: { proposalId, reason: 'plans' } })
  const { proposalId: late } = await propose()
  await bed.sql('admin').query('update gateway.team_proposal set expires_at = now() where id = $1', [late])
  await refusal(bed.team('bob').call(issueCredential, { input, approves: late }))
  await bed.team('bob').call(listProposals, { input: { limit: 10 } })
}

/** A correction of production by one person, for which the services sum what that person corrected before. */
async function correctAlone(bed: TestBed<typeof services>): Promise<void> {
  const { openAccount, adjustWallet } = operations.wallet
  const playerId = 'ply_of_production'
  const scope = bed.scope({ environment: 'production' })
  await bed.rpc.call(openAccount, { scope, input: { playerId } })
  const { operatorId, environment, currency } = scope
  const seen = { operatorId, environment, currency }
  const input = { playerId, amount: correctedAlone, reference: 'plans-alone', seen, reason: 'plans' }
  await bed.team('alice').call(adjustWallet, { input })
  await byTwo(bed, adjustWallet, { ...input, amount: '2.00', reference: 'plans-two' })
}
/** Up to this amount one person may correct a balance alone: a setting of the wallet. */
export const correctedAlone = '1.00'

/** Two people give up a credit for which the account has no room. */
async function endCredit(operator: Operator, bed: TestBed<typeof services>): Promise<void> {
  const playerId = await newPlayer(operator)
  const { id } = await operator.post(`/players/${playerId}/deposits`, 201, depositRequest('10.00'))
  const admin = bed.sql('admin')
  await admin.query('update wallet.account set posted = 9223372036854775807 where owner_id = $1', [playerId])
  const [path, key] = [`/deposits/${id}/confirm`, randomUUID()]
  await operator.post(path, 503, {}, key)
  await endCommandOf(bed, { depositId: id, first: 'alice', second: 'bob', reason: 'plans' })
  await operator.post(path, 409, {}, key)
  await admin.query('update wallet.account set posted = 0 where owner_id = $1', [playerId])
}

const isSent = (part: string) => knownStatements().some(({ text }) => text.includes(part))

/** A status that changes otherwise than by an operation, of which the operator is told half a minute later. */
async function changeBehindServices(bed: TestBed<typeof services>, playerId: string): Promise<void> {
  const admin = bed.sql('admin')
  for (const status of ['suspenso', 'ativo']) {
    await admin.query('update players.player set status = $2 where id = $1', [playerId, status])
    await admin.query('update players.told_status set due_at = now() where player_id = $1', [playerId])
  }
  await eventually(() => isSent('update told_status t set (changed_at'))
}

/** What is known of a 429 that was obeyed, and what the gateway asks webhooks for by itself. */
async function obeyLimit(bed: TestBed<typeof services>): Promise<void> {
  const input = { name: 'obeys', rateLimitPerMinute: 1 }
  const { operatorId, sandbox } = await bed.team('alice').call(operations.gateway.createOperator, { input })
  await bed.sql('admin').query(
    `insert into gateway.rate_window (operator_id, environment, started_at, granted, last_grant)
      values ($1, 'sandbox', clock_timestamp() - interval '50 seconds', 1, 0)`,
    [operatorId],
  )
  const pair = { key: sandbox.key, secret: sandbox.secret ?? '' }
  const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, pair)
  // The first one is counted where this machine has taken ten seconds to come here.
  const limited = await eventually(async () => {
    const reply = await client.get('/me')
    return reply.status === 429 && reply
  })
  // Who asks before that is let in at the window's end, up to a second before it is obeyed, and nothing is judged.
  await delay(Number(limited.headers['retry-after']) * 1_000)
  await eventually(async () => (await client.get('/me')).status === 200)
  await eventually(() => isSent('from rate_refusal') && isSent('select from brand live'))
  await client.close()
}

/**
 * What happens only when something is away or wrong: the wallet for a while, a process that comes back, a message that
 * nobody can read, a key whose outcome nobody knows.
 */
export async function callInTrouble(operator: Operator, bed: TestBed<typeof services>): Promise<void> {
  const { post } = operator
  await obeyLimit(bed)
  const playerId = await newPlayer(operator)
  await changeBehindServices(bed, playerId)
  const requests = await Promise.all(
    ['10.00', '20.00'].map(async (amount) => {
      const { id } = await post(`/players/${playerId}/deposits`, 201, depositRequest(amount))
      return { path: `/deposits/${id}/confirm`, key: randomUUID() }
    }),
  )
  const asked = { path: `/players/${playerId}/withdrawals`, key: randomUUID() }
  await bed.services.wallet.drain()
  for (const { path, key } of requests) await post(path, 503, {}, key)
  await post(asked.path, 503, withdrawal, asked.key)
  const [retried, forgotten] = requests as [(typeof requests)[0], (typeof requests)[0]]
  // Whoever comes again waits for what is unfinished, and takes it over after a moment.
  const waiting = Promise.allSettled([post(retried.path, 200, {}, retried.key)])
  await eventually(() => isSent('o.leased_until is not null'))
  Object.assign(bed.services, { wallet: await bed.start('wallet') })
  await waiting
  await post(retried.path, 200, {}, retried.key)
  await post(asked.path, 201, withdrawal, asked.key)
  await bed
    .sql('admin')
    .query("update gateway.claim set expires_at = now() - interval '1 s' where key = $1", [forgotten.key])
  await post(forgotten.path, 409, {}, forgotten.key)

  // A replica that starts publishes again what may have been lost with the one before.
  const replica = await bed.start('payments')
  const connection = await bed.nats('payments')
  connection.publish('events.deposit.confirmed', 'nonsense')
  await eventually(async () => {
    const { rows } = await bed.sql('admin').query('select from webhooks.set_aside_message')
    return rows.length > 0
  })
  const team = teamOf(bed)
  const { data } = await team(operations.webhooks.listSetAside, { limit: 10 })
  await team(operations.webhooks.showSetAside, { id: data[0].id })
  await team(operations.webhooks.rerunSetAside, { reason: 'mended' })
  await team(operations.webhooks.rerunSetAside, { id: data[0].id, reason: 'mended' })
  await endCredit(operator, bed)
  await playAndDecide(operator, bed, await richPlayer(operator.by))
  await closeDay(operator, bed)
  await correctAlone(bed)
  await proposeAndApprove(operator, bed)
  await fetch(`http://127.0.0.1:${replica.healthPort}/readyz`)
  await replica.drain()
}
