import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  type Operation,
  operations,
  type ReconciliationReport,
  type Scope,
  type ServiceName,
} from '@backoffice/contracts'
import { noVault } from '@backoffice/database/vault'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { dayMs, newId } from '@backoffice/process'
import { connectDatabase } from '@backoffice/service-runtime/testing'
import { subjectAndReason } from '@backoffice/team-access/identity'
import {
  inLanes,
  type LoginOptions,
  playOf,
  refusal,
  searchPathOf,
  seenWithdrawal,
  type TeamUser,
  TestIssuer,
  TestTime,
  testBed,
} from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import type { Test } from 'tap'
import t from 'tap'
import { Ledger } from '../../../wallet/src/ledger/ledger.ts'
import type { Posting } from '../../../wallet/src/ledger/posting.ts'
import { readDeposits, readTransfers } from '../../src/reconciliation/plain-records.ts'
import { Snapshots } from '../../src/reconciliation/snapshots.ts'
import { reconciler } from '../../src/service.ts'
import { runOf, behindItsBack as tamper } from '../runs/run.ts'

/** Corrections here are made for another purpose than to show that they take two people. */
const aloneUpToAnything = { CORRECT_ALONE_UP_TO: '9999999999999.99' }
const neverSweep = { INTENT_SWEEP_EVERY_MS: 3_600_000 }
/** Test files that run in one process share it: each has brands of its own. */
export const bed = await testBed(
  t,
  { players, wallet, payments, reconciler },
  { config: { payments: neverSweep, wallet: aloneUpToAnything, reconciler: aloneUpToAnything } },
)
const { payments: pay, players: play, wallet: money } = operations

/** Whose games are played here, and of which game everybody plays. */
type Plays = ReturnType<typeof playOf>
export const provider = { id: 'prv_of_tests', bodyDigest: 'ab'.repeat(32) }
const gameId = 'lucky-tiger'
const { DATABASE_URL = '' } = bed.environment('wallet')
/** What is forged is of any time. */
const time = new TestTime()
await time.install(bed.databaseUrl)
/** Not that of a replica, which may be stopped. */
const ownDb = connectDatabase(
  'wallet',
  {
    DATABASE_URL: `${DATABASE_URL}?options=${encodeURIComponent(`-c search_path=${searchPathOf('wallet').replaceAll(' ', '')}`)}`,
    DATABASE_POOL_MAX: 2,
  },
  { vault: noVault },
)
t.teardown(async () => (await ownDb).close())

/** The rules by which reconciliation judges. What the services of this bed allow is more. */
export const team = { ...bed.issuer.team, aloneUpTo: '50.00', payAloneUpTo: '9.99', maxWin: '100.00', rollOutMs: 0 }

export const run = (isFull = true): Promise<ReconciliationReport> => runOf(bed, { isFull, team })
// The first one is always full. Here it finds nothing to read.
await run()

/** The posting before. */
let turn: Promise<unknown> = Promise.resolve()

/** A brand of its own, with a player who has 100.00, and the ways in which money moves there. */
export class Brand {
  readonly scope: Scope
  playerId = ''

  constructor(environment: Scope['environment'] = 'production') {
    this.scope = bed.scope({ brandId: newId('brd'), environment })
  }

  static async funded(environment?: Scope['environment']): Promise<Brand> {
    const brand = new Brand(environment)
    brand.playerId = await brand.register()
    await brand.confirm(await brand.deposit('100.00'))
    return brand
  }

  async register(): Promise<string> {
    const person = { name: 'Ana Souza', email: 'ana@example.com', cpf: '529.982.247-25', birthDate: '1990-05-17' }
    const input = { externalId: `user-${randomUUID()}`, ...person }
    const { id } = await bed.rpc.call(play.registerPlayer, { scope: this.scope, input })
    await bed.team('carol').call(play.decideKyc, {
      input: { playerId: id, submission: null, status: 'aprovado', reason: 'documents match' },
    })
    return id
  }

  async deposit(amount: string): Promise<string> {
    const { playerId, scope } = this
    const input = { playerId, amount, currency: 'BRL', method: 'pix', externalReference: randomUUID() }
    return (await bed.rpc.call(pay.createDeposit, { scope, input })).id
  }

  /** A session of the player in the game, as players makes one. @returns its id */
  async session(own: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const id = newId('ses')
    const at = Date.now()
    await add('players', 'game_session', {
      ...{ id, player_id: this.playerId, brand_id: this.scope.brandId, game_id: gameId, mode: 'real', game_url: 'x' },
      ...{ created_at: new Date(at - 60_000), expires_at: new Date(at + 3_600_000), ...own },
    })
    return id
  }

  get #play() {
    return playOf(bed, this.scope, { playerId: this.playerId, provider: provider.id, roundId: 'r1' })
  }

  /** Lets the wallet take a bet, with `win` a spin, that nobody has judged. @returns the id of the play */
  async bet(transactionId: string, amount: string, own: Parameters<Plays['bet']>[2] = {}): Promise<string> {
    const sessionId = own.sessionId ?? (await this.session())
    return (await this.#play.bet(transactionId, amount, { gameId, ...own, sessionId })).id
  }

  async win(...sent: Parameters<Plays['win']>): Promise<string> {
    return (await this.#play.win(...sent)).id
  }

  async rollback(transactionId: string, roundId = 'r1', betTransactionId = transactionId): Promise<string> {
    return (await this.#play.rollback(transactionId, betTransactionId, { roundId })).id
  }

  async close(roundId = 'r1'): Promise<void> {
    await this.#play.close(roundId)
  }

  async confirm(depositId: string): Promise<void> {
    await bed.rpc.call(pay.confirmDeposit, { scope: this.scope, input: { depositId } })
  }

  async request(amount: string): Promise<string> {
    const { playerId, scope } = this
    const input = { playerId, amount, currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
    return (await bed.rpc.call(pay.requestWithdrawal, { scope, input })).id
  }

  async decide(user: 'alice' | 'bob', withdrawalId: string, decision: 'approve' | 'reject' | 'pay' | 'fail') {
    const team = bed.team(user)
    const input = { ...(await seenWithdrawal(team, withdrawalId)), decision }
    await team.call(pay.decideWithdrawal, { input })
  }

  /** A withdrawal that alice has approved. */
  async approved(amount = '10.00'): Promise<string> {
    const id = await this.request(amount)
    await this.decide('alice', id, 'approve')
    return id
  }

  /** Posts with the wallet's rights and by its own code, and asks nobody. One at a time, as all share PostgreSQL's clock. */
  post(...posting: Parameters<Brand['postInTurn']>): Promise<string> {
    const posted = turn.then(() => this.postInTurn(...posting))
    turn = posted.catch(() => {})
    return posted
  }

  private async postInTurn(
    posting: Omit<
      Extract<Posting, { kind: 'credit' | 'debit' }>,
      'brandId' | 'playerId' | 'currency' | 'transferId' | 'effectiveAt'
    >,
    now?: () => Date,
  ) {
    if (now !== undefined) await time.set(now())
    const ledger = new Ledger({ db: await ownDb })
    const { brandId, currency } = this.scope
    const target = { brandId, currency, playerId: this.playerId }
    const posted = { ...posting, ...target, transferId: newId('trf'), effectiveAt: new Date() }
    // A moment that a run keeps is of the real time: a clock that goes back makes other times uncertain.
    const outcome = await ledger.post(posted).finally(() => now && time.set(null))
    if (outcome.outcome !== 'posted') throw new Error(`not posted: ${outcome.outcome}`)
    return outcome.transferId
  }

  /**
   * The names of the checks that report this brand, or a subject of it that has no brand. Sums are left out: they count
   * transactions that have ended, and those of other tests on the same server have to end first.
   */
  foundIn({ differences }: ReconciliationReport): string {
    const ours = differences.filter(
      ({ check, brandId, subject }) =>
        check !== 'sums' && (brandId === this.scope.brandId || subject === this.playerId),
    )
    return [...new Set(ours.map(({ check }) => check))].sort().join(' ')
  }
}

const odd = `x "'\\ é😀`

/** Every state that plays and rounds can have. @param of begins the ids of all transactions and rounds */
export async function playAll(brand: Brand, of = ''): Promise<void> {
  const bet = (id: string, round: string, amount: string, own: Parameters<Plays['bet']>[2] = {}) =>
    brand.bet(`${of}${id}`, amount, { roundId: `${of}${round}`, ...own })
  const win = (id: string, round: string, amount: string, own: Parameters<Plays['win']>[2] = {}) =>
    brand.win(`${of}${id}`, amount, { roundId: `${of}${round}`, ...own })
  const rollback = (id: string, round: string, betId = id) =>
    brand.rollback(`${of}${id}`, `${of}${round}`, `${of}${betId}`)
  const refused = async (...staked: Parameters<typeof bet>) => {
    if ((await refusal(bet(...staked))) === null) throw new Error(`the bet ${staked[0]} was taken`)
  }
  await bet('b1', 'r1', '2.00', { providerTime: '2026-03-02T12:06:00.123Z' })
  await bet('b2', 'r1', '3.00', { roundEnds: true })
  await win('w1', 'r1', '5.00', { betTransactionId: `${of}b1`, detailsUrl: 'https://games.example/b1' })
  await win('w2', 'r1', '0.00')
  await win('late', 'r1', '1.00')
  await refused('after', 'r1', '1.00')
  await bet('s1', 'r2', '4.00', { win: '10.00' })
  await bet('s2', 'r3', '4.00', { win: '0.00' })
  await bet('f1', 'r4', '0.00', { freeRound: true })
  await win('fw', 'r4', '1.50', { kind: 'free_round', campaignId: odd, roundEnds: true })
  await bet('j1', 'r5', '1.00')
  await win('jw', 'r5', '50.00', { kind: 'jackpot' })
  await brand.close(`${of}r5`)
  await win('tournament', 'r5', '7.00', { roundId: undefined, kind: 'promotion', betTransactionId: `${of}none` })
  await bet('x1', 'r6', '2.00')
  await bet('x2', 'r6', '2.00')
  await rollback('x1', 'r6')
  await rollback('again', 'r6', 'x1')
  await rollback('x2', 'r6')
  await bet('f2', 'r7', '0.00', { freeRound: true })
  await rollback('f2', 'r7')
  await rollback('unknown', 'r8')
  await refused('unknown', 'r8', '1.00')
  await refused('refused', 'r9', '1.00', { refusedWith: { code: 'RG_BLOCKED' } })
  await rollback('refused', 'r9')
  await refused('much', 'r9', '9999999.00')
  await bet('undone', 'r11', '1.00')
  await undo(brand, `${of}undone`)
  await bet('open', 'r10', '1.00')
}

/** The team gives a stake of 1.00 back. */
async function undo({ scope, playerId }: Brand, transactionId: string): Promise<void> {
  const { rows } = await bed
    .sql('wallet')
    .query(
      'select t.id from transfer t join play p on p.id = t.reference where p.brand_id = $1 and p.transaction_id = $2',
      [scope.brandId, transactionId],
    )
  const seen = { type: 'BET', amount: '-1.00', currency: 'BRL' } as const
  const input = { playerId, transferId: rows[0].id, seen, reference: randomUUID(), reason: 'a fault' }
  await bed.team('alice').call(money.reverseTransfer, { input })
}

/** Runs as the role of a service, on its own schema. */
export async function as(service: ServiceName, text: string, values: readonly unknown[] = []): Promise<void> {
  const { rowCount } = await bed.sql(service).query(text, [...values])
  if (rowCount === 0) throw new Error('nothing was forged')
}

/** As an administrator, for whom no trigger speaks: what the role of a service is refused. */
export const behindItsBack = (text: string, values: readonly unknown[] = []) => tamper(bed.sql('admin'), text, values)

/** Adds a row, as the role of a service or behind its back. Objects are written as JSON. */
export const add = (by: ServiceName | 'admin', table: string, row: Readonly<Record<string, unknown>>) => {
  const text = `insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map((_, index) => `$${index + 1}`)})`
  const values = Object.values(row).map((value) => (Array.isArray(value) ? JSON.stringify(value) : value))
  return by === 'admin' ? behindItsBack(text, values) : as(by, text, values)
}

/**
 * How something is forged in a brand. Each is named by what is forged and, after a colon, the checks that find it, in
 * alphabetical order. Whoever holds the rights of one service writes what that service could write. All triggers and rights
 * are in force, and the hashes are right: what is found is found by comparing with what another part of the system recorded.
 */
export type Forgeries = Readonly<Record<string, (brand: Brand) => Promise<unknown>>>

/** Forges all, each in a brand of its own, and shows that each is named by its checks, and by no other. */
export async function eachIsNamed(t: Test, forgeries: Forgeries, environment?: Scope['environment']): Promise<void> {
  const forged = await inLanes(Object.entries(forgeries), async ([name, forge]) => {
    const brand = await Brand.funded(environment)
    await forge(brand)
    return { name, brand }
  })
  const [incremental, full] = [await run(false), await run()]
  t.same(await plainAmong(full), [])
  for (const { name, brand } of forged) {
    const what = name.slice(0, name.lastIndexOf(': '))
    t.equal(`${what}: ${brand.foundIn(incremental) || 'nothing'}`, name, 'by the incremental run')
    t.equal(`${what}: ${brand.foundIn(full) || 'nothing'}`, name, 'by the full run')
  }
}

/** The records that a proof would ask nothing about, if they were old, of those that a report names. */
async function plainAmong({ differences }: ReconciliationReport): Promise<readonly string[]> {
  // What operators were told of old ones is looked at by what they were told.
  const named = differences.filter(({ check }) => check !== 'events').map(({ subject }) => subject)
  const { DATABASE_URL = '' } = bed.environment('reconciler')
  const signal = new AbortController().signal
  const snapshots = await Snapshots.connect(DATABASE_URL, { statementMsMax: 60_000, signal })
  const horizon = await bed.sql('admin').query('select pg_snapshot_xmin(pg_current_snapshot())::text as below')
  const endedBelow = BigInt(horizon.rows[0].below)
  const only = (id: string) => ({ begin: id, end: id })
  const isPlain = (key: string) =>
    snapshots.see(async (db) => {
      const asked = async (id: string) =>
        (await readTransfers(db, only(id), { endedBelow, isPlainEnough: true })).keys.includes(id)
      if (key.startsWith('trf_')) return !(await asked(key))
      const { keys: deposits } = await readDeposits(db, only(key), new Date(Date.now() + dayMs))
      const [credit] = await db<{ id: string }>`select id from wallet.transfer where reference = ${key}`
      return !deposits.includes(key) && credit !== undefined && !(await asked(credit.id))
    })
  const plain: string[] = []
  for (const key of new Set(named.filter((subject) => /^(dep|trf)_/.test(subject))))
    if ((await isExisting(key)) && (await isPlain(key))) plain.push(key)
  await snapshots.close()
  return plain
}

/** What is gone is no record, and not plain. */
async function isExisting(id: string): Promise<boolean> {
  const table = id.startsWith('dep_') ? 'payments.deposit' : 'wallet.transfer'
  const { rowCount } = await bed.sql('admin').query(`select from ${table} where id = $1`, [id])
  return rowCount === 1
}

export const longAgo = () => new Date(Date.now() - 2 * 24 * 3_600_000)

export const adjustment = {
  kind: 'credit',
  type: 'ADJUSTMENT',
  counterparty: 'adjustments',
  amount: 100_000_000n,
  reference: 'gift',
  reason: 'a gift',
} as const

/** An audit entry that nobody signed. */
export const auditCorrection = (
  operation: string,
  input: Readonly<Record<string, string>>,
  subject: string,
  now = () => new Date(),
) =>
  add('wallet', 'audit_entry', {
    ...{ id: newId('aud'), at: now(), actor: 'alice', operation, operation_id: newId('opn'), subject },
    ...{ reason: input.reason, input, outcome: 'done' },
  })

/** An adjustment, with an audit entry that nobody signed and that may say something else. @returns its key */
export async function forgeAudited(
  brand: Brand,
  { playerId = brand.playerId, amount = '1000000.00', now = () => new Date() } = {},
): Promise<string> {
  const { reference, reason } = adjustment
  await auditCorrection('adjustWallet', { playerId, amount, reference, reason }, playerId, now)
  return brand.post(adjustment, now)
}

// Calls of the team, written with the password of a service.

/** Somebody else's identity provider. */
export const stranger = new TestIssuer()
t.teardown(() => stranger.remove())

export const keysText = (issuer: TestIssuer) => readFileSync(issuer.settings.TEAM_KEYS_FILE ?? '', 'utf8')

/** The ids of people begin so: the test's provider names their accounts as it names them. */
export const accounts = 'https://identity.test '

type Input = Readonly<Record<string, unknown>>

interface Signing extends LoginOptions {
  readonly issuer?: TestIssuer | undefined
}

export interface Forged extends Signing {
  readonly operation: Operation
  readonly by: TeamUser
  /** As the trail has it. */
  readonly input: Input
  /** What is signed instead. */
  readonly signs?: { readonly operation?: string; readonly operationId?: string; readonly input?: Input } | undefined
  /** Who proposed it, and who approved it. */
  readonly two?: readonly [TeamUser, TeamUser] | undefined
  /** What the trail says instead. */
  readonly row?: Input | undefined
}

interface Call {
  readonly input: Input
  readonly operation?: string
  readonly operationId?: string
  readonly approves?: string
}

/** A session as the service keeps it, and what somebody signed in it. */
async function signedBy(
  user: TeamUser,
  { id, service }: Operation,
  call: Call,
  { issuer = bed.issuer, ...login }: Signing,
) {
  const operationId = newId('opn')
  const { idToken, proof } = await issuer
    .signer(user, login)
    .sign({ operation: `${service}.${id}`, operationId, ...call })
  const session = newId('ses')
  const anchor = JSON.parse(keysText(issuer)).keys[0]
  await add(service, 'team_session', {
    ...{ session, person: user, kind: 'person', id_token: idToken, anchor, first_used_at: new Date() },
  })
  return { user, operationId, proof, session }
}

/** A proposal that two have signed. @returns its id */
async function forgeProposal(operation: Operation, input: Input, two: readonly [TeamUser, TeamUser], signing: Signing) {
  const id = newId('prp')
  const { reason, ...what } = input
  const proposed = await signedBy(two[0], operation, { input }, signing)
  const approved = await signedBy(two[1], operation, { input, approves: id }, signing)
  const at = (signing.now ?? (() => new Date()))()
  await add(operation.service, 'team_proposal', {
    ...{ id, operation: operation.id, fingerprint: id, input: what, reason, state: 'approved' },
    ...{ proposed_by: proposed.user, proposed_by_id: `${accounts}${proposed.user}`, proposed_at: at },
    ...{ expires_at: at, operation_id: proposed.operationId },
    ...{ session: proposed.session, proof: proposed.proof },
    ...{ decided_by: approved.user, decided_by_id: `${accounts}${approved.user}`, decided_at: at },
    ...{ decided_operation_id: approved.operationId, decision_reason: reason },
    ...{ decided_session: approved.session, decided_proof: approved.proof },
  })
  return id
}

export type ForgedEntry = Awaited<ReturnType<typeof forgeCall>>

/** An entry of the trail with all that it rests on, written with the password of its service. */
export async function forgeCall({ operation, by, input, signs, two, row, ...signing }: Forged) {
  const proposal = two && (await forgeProposal(operation, input, two, signing))
  const signed = await signedBy(by, operation, { input, ...signs }, signing)
  const entry = {
    ...{ id: newId('aud'), at: (signing.now ?? (() => new Date()))(), actor: by, actor_id: `${accounts}${by}` },
    ...{ operation: operation.id, operation_id: signed.operationId, ...subjectAndReason(input), input },
    ...{ outcome: 'done', session: signed.session, tool: 'command line', proof: signed.proof, proposal, ...row },
  }
  await add(operation.service, 'audit_entry', entry)
  return entry
}
