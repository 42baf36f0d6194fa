import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Operation, operations, type PersonalKind, seenOf, serviceNames } from '@backoffice/contracts'
import {
  eventually,
  holdWinAs,
  OperatorClient,
  proposalOf,
  seenWithdrawal,
  serveHttp,
  stakeAs,
  type Teardown,
  type TestBed,
} from '@backoffice/test-kit'
import type { Pool } from 'pg'
import { endCommandOf } from '../journey.ts'
import type { services } from '../services.ts'
import { root } from '../structure/source-files.ts'

const text = readFileSync(join(root, 'docs/privacy.md'), 'utf8')

/** The cells of each row of a section's table whose first cell is a name in code. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = text.split(`\n${heading}\n`)
  const [own = ''] = section.split(/\n##+ /)
  return [...own.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | ').map((cell, index) => (index === 0 ? cell.replaceAll('`', '') : cell)),
  )
}

const kindsIn = (cell = '') => cell.split(' ').filter((word) => /^\w+$/.test(word))

/** The kinds of data, as the document lists them. */
export const listedKinds = rowsOf('## Kinds of data').map(([kind = '', , shown = '']) => ({
  kind,
  masked: shown.startsWith('masked'),
}))

/** `schema.table.column`, with the kinds of data that the document says are in it. */
export const listedColumns = new Map(
  rowsOf('## Where it is stored').flatMap(([tables = '', columns = '']) =>
    [...columns.matchAll(/`(\w+)` ([^,]+)/g)].flatMap(([, column, kinds]) =>
      tables.split(', ').map((table) => [`${table}.${column}`, kindsIn(kinds)] as const),
    ),
  ),
)

/** What the document says of how long a table is kept, where that is a time. */
export const listedTimes = new Map(
  rowsOf('## Where it is stored').flatMap(([tables = '', , kept = '']) =>
    tables.split(', ').map((table) => [table, kept] as const),
  ),
)

/** The columns that the document says are sealed. */
export const listedSealed = rowsOf('## Encryption').flatMap(([columns = '']) => columns.split(', '))

type Bed = TestBed<typeof services>

/** A person whose every detail is found again wherever it is stored. */
export const person = {
  externalId: 'zuleika-of-the-operator',
  name: 'Zuleika Marcadora',
  email: 'zuleika@marcadora.example',
  cpf: '111.444.777-35',
  phone: '+5571912345678',
  birthDate: '1957-03-19',
}
const document = 'scan-of-zuleika'
export const destination = 'pix-of-zuleika'
const note = 'zuleika called twice'
const staff = 'carol'

/** What to look for: a text for each kind of personal data, and the id of the player. */
const textsOf = (playerId: string): Texts => ({
  ...person,
  cpf: '11144477735',
  player: playerId,
  document,
  destination,
  note,
  staff,
})

export interface Traces {
  readonly playerId: string
  /** What to look for. */
  readonly texts: Texts
  /** The operator's own client. */
  readonly client: OperatorClient
  readonly credentials: { readonly key: string; readonly secret: string }
  readonly post: (path: string, body: object) => Promise<Reply>
  readonly team: (operation: Operation, input: object) => Promise<Reply>
}
type Texts = Readonly<Record<PersonalKind, string>>

// biome-ignore lint/suspicious/noExplicitAny: what it reads depends on the call
type Reply = any

/** Leaves the traces of one player and of one person of the team in every table that can have them. */
export async function leaveTraces(t: Teardown, bed: Bed): Promise<Traces> {
  const team = (operation: Operation, input: object) =>
    bed.team(staff).call(operation, { input: { ...input, reason: note } as never }) as Promise<Reply>
  // Not their account, which would end this.
  const member = `https://elsewhere.test ${staff}`
  await team(operations.gateway.lockTeamMember, { member })
  await proposalOf(team(operations.gateway.unlockTeamMember, { member }))
  const { operatorId, sandbox } = await team(operations.gateway.createOperator, { name: 'privacy' })
  // It answers with what it got, as a careless receiver may.
  const url = await serveHttp(t, (request, response) => request.pipe(response))
  await team(operations.webhooks.setWebhookUrl, { operatorId, environment: 'sandbox', url })
  const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, sandbox)
  t.teardown(() => client.close())
  const post: Traces['post'] = async (path, body) => {
    const reply = await client.post(path, body, { idempotencyKey: randomUUID() })
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.bytes}`)
    return reply.body as Reply
  }

  const { id: playerId } = await post('/players', person)
  const player = `/players/${playerId}`
  await post(`${player}/kyc/submissions`, { documentType: 'rg', reference: document })
  const { submissions } = await team(operations.players.showPlayer, { playerId })
  await team(operations.players.decideKyc, { playerId, submission: submissions[0].id, status: 'reprovado' })
  await post(`/sandbox${player}/kyc/decision`, { status: 'aprovado', reason: note })
  await team(operations.players.setDailyLimit, { playerId, dailyDepositLimit: '5000.00' })
  for (const status of ['suspenso', 'ativo']) await team(operations.players.setPlayerStatus, { playerId, status })
  await team(operations.players.showPlayer, { playerId, unmask: true })
  for (const by of [{ name: person.name }, { externalId: person.externalId }])
    await team(operations.players.searchPlayers, { ...by, limit: 1 })
  await team(operations.players.takeKycCase, { playerId })
  await post(`${player}/game-sessions`, { gameId: 'fortune-reels' })

  const pix = { currency: 'BRL', method: 'pix' }
  const deposit = () => post(`${player}/deposits`, { ...pix, amount: '100.00', externalReference: randomUUID() })
  const admin = bed.sql('admin')
  const setBalance = (posted: string) =>
    admin.query('update wallet.account set posted = $2 where owner_id = $1', [playerId, posted])
  await setBalance('9223372036854775807')
  for (const [first, second] of [
    ['bob', staff],
    [staff, 'bob'],
  ] as const) {
    const { id: depositId } = await deposit()
    await client.post(`/deposits/${depositId}/confirm`, {}, { idempotencyKey: randomUUID() })
    await endCommandOf(bed, { depositId, first, second, reason: note })
  }
  await setBalance('0')
  await post(`/deposits/${(await deposit()).id}/confirm`, {})
  await post(`/deposits/${(await deposit()).id}/fail`, { reason: note })
  const withdrawal = () => post(`${player}/withdrawals`, { ...pix, amount: '10.00', destination })
  const { id: withdrawalId } = await withdrawal()
  for (const decision of ['approve', 'pay']) {
    await team(operations.payments.decideWithdrawal, {
      ...(await seenWithdrawal(bed.team(staff), withdrawalId)),
      decision,
    })
    if (decision === 'pay') continue
    const { fileId } = await bed
      .team(staff)
      .call(operations.payments.makePaymentFile, { input: { ids: [withdrawalId] } })
    await team(operations.payments.discardPaymentFile, { fileId })
  }
  await post(`/withdrawals/${(await withdrawal()).id}/cancel`, {})
  const corrected = { playerId, amount: '1.00', reference: 'privacy' }
  await team(operations.wallet.adjustWallet, corrected)
  await leaveProposals(bed, { operatorId, playerId })
  const { reconcileWallet } = operations.reconciler
  const { runId } = await bed.team(staff).call(reconcileWallet, { input: {} })
  await eventually(async () => (await bed.team(staff).call(reconcileWallet, { input: { runId } })).state === 'done')
  // Behind it, which would name a bet that belongs to no session.
  await leavePlay(bed, (await client.get('/me')).body.brand.id, { operatorId, playerId })
  await eventually(async () => {
    const { rows } = await bed.sql('admin').query("select from webhooks.delivery where state <> 'delivered'")
    return rows.length === 0
  })
  await team(operations.webhooks.disableWebhook, { operatorId, environment: 'sandbox' })
  await leaveBrokenEvent(bed, { playerId, reference: document, destination, reason: note })
  return { playerId, texts: textsOf(playerId), client, credentials: sandbox, post, team }
}

/** A win that waits, and a stake that the team gave back. */
async function leavePlay(
  bed: Bed,
  brandId: string,
  { operatorId, playerId }: { readonly operatorId: string; readonly playerId: string },
) {
  const { listRounds, voidRound } = operations.wallet
  const scope = bed.scope({ operatorId, brandId })
  await holdWinAs(bed.rpc, scope, playerId)
  const { roundId } = await stakeAs(bed.rpc, scope, playerId)
  const [round] = (await bed.team(staff).call(listRounds, { input: { roundId, limit: 1 } })).data
  if (round === undefined) throw new Error('the round is not there')
  await bed.team(staff).call(voidRound, { input: { roundId: round.id, seen: seenOf(voidRound, round), reason: note } })
}

/** Proposes in each service that has something which takes two people in production, and takes it back. */
async function leaveProposals(
  bed: Bed,
  ids: { readonly operatorId: string; readonly playerId: string },
): Promise<void> {
  const { operatorId, playerId } = ids
  const { gateway, players, wallet, webhooks } = operations
  const admin = bed.sql('admin')
  const inProduction = async (environment: string, status: string) => {
    // Triggers keep them otherwise.
    const session = await admin.connect()
    await session.query("set session_replication_role = 'replica'")
    for (const service of ['wallet', 'players'])
      await session.query(`update ${service}.brand set environment = $1`, [environment])
    await session.query('update players.player set environment = $1, status = $2', [environment, status])
    await session.query('reset session_replication_role')
    session.release()
  }
  await inProduction('production', 'autoexcluido')
  const production = { operatorId, environment: 'production' }
  for (const [operation, input] of [
    [gateway.issueCredential, production],
    [webhooks.rotateWebhookSecret, production],
    [wallet.adjustWallet, { playerId, amount: '2.00', reference: 'proposed' }],
    [players.setPlayerStatus, { playerId, status: 'ativo' }],
  ] as readonly [Operation, object][]) {
    const call = bed.team(staff).call(operation, { input: { ...input, reason: note } as never })
    const { proposalId } = await proposalOf(call)
    const { declineProposal } = operations[operation.service]
    await bed.team(staff).call(declineProposal, { input: { proposalId, reason: note } })
  }
  await inProduction('sandbox', 'ativo')
}

/** An event that ends too early: nobody can read it, so it is set aside. */
export async function leaveBrokenEvent(bed: Bed, data: object): Promise<void> {
  const before = await setAsideCount(bed)
  const connection = await bed.nats('payments')
  connection.publish('events.deposit.confirmed', JSON.stringify({ type: 'deposit.confirmed', data }).slice(0, -1))
  await eventually(async () => (await setAsideCount(bed)) > before)
}

async function setAsideCount(bed: Bed): Promise<number> {
  const { rows } = await bed.sql('admin').query('select from webhooks.set_aside_message')
  return rows.length
}

interface Table {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

/** The columns of all tables of the services that hold one of the texts, as `schema.table.column`, with the kinds. */
export async function columnsWith(admin: Pool, texts: Texts): Promise<Map<string, ReadonlySet<string>>> {
  const { rows: tables } = await admin.query<Table>(
    `select table_schema || '.' || table_name as name,
       json_agg(json_build_object('name', column_name, 'type', data_type)) as columns
     from information_schema.columns where table_schema = any($1)
       and (select relkind <> 'v' and not relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)
     group by 1 order by 1`,
    [serviceNames],
  )
  const found = new Map<string, ReadonlySet<string>>()
  const kinds = Object.keys(texts)
  for (const { name: table, columns } of tables) {
    const finds = columns.flatMap(({ name, type }) => {
      // Bytes as text, so that a stored body is searched like any other column.
      const text = type === 'bytea' ? `encode("${name}", 'escape')` : `"${name}"::text`
      return kinds.map((_, index) => `coalesce(bool_or(position($${index + 1} in ${text}) > 0), false)`)
    })
    const { rows } = await admin.query<{ found: boolean[] }>(
      `select array[${finds.join(', ')}] as found from ${table}`,
      Object.values(texts),
    )
    columns.forEach(({ name }, place) => {
      const held = kinds.filter((_, index) => rows[0]?.found[place * kinds.length + index])
      if (held.length > 0) found.set(`${table}.${name}`, new Set(held))
    })
  }
  return found
}
