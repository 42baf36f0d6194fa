import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  fromMinorUnits,
  operations,
  type ReconciliationReport,
  type Scope,
  type ServiceName,
  toMinorUnits,
} from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { newId } from '@backoffice/service-runtime/internal'
import { fixedKeys, issuerKeys } from '@backoffice/team-identity'
import { eventually, keptEvents, refusal, type TeamUser, TestIssuer, testBed } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import type { Posting } from '../../src/domain/posting.ts'
import { folderStore } from '../../src/heads/folder.ts'
import { ask } from '../../src/reconciliation/check.ts'
import { signatures } from '../../src/reconciliation/signatures.ts'
import { Snapshots } from '../../src/reconciliation/snapshots.ts'
import { TeamHistory } from '../../src/reconciliation/team-history.ts'
import { wallet } from '../../src/service.ts'
import { Ledger } from '../../src/steps/ledger.ts'
import { aloneUpToAnything } from '../alone.ts'
import { behindItsBack as tamper } from './behind-its-back.ts'
import { runOf } from './run.ts'

// Whoever holds the rights of one service writes what that service could write. All triggers and rights are in force,
// and the hashes are right: what is found is found by comparing with what another part of the system recorded.

const neverSweep = { INTENT_SWEEP_EVERY_MS: 3_600_000 }
const bed = await testBed(
  t,
  { players, wallet, payments },
  { config: { payments: neverSweep, wallet: aloneUpToAnything } },
)
/** The replica that runs now: one test stops the first. */
let walletReplica = bed.services.wallet
const { payments: pay, players: play, wallet: money } = operations

const team = { ...bed.services.wallet.team, aloneUpTo: '50.00', payAloneUpTo: '9.99', rollOutMs: 0 }
/** Somebody else's identity provider. */
const stranger = new TestIssuer()
t.teardown(() => stranger.remove())
const run = (isFull = true): Promise<ReconciliationReport> => runOf(bed, { isFull, team })

/** A brand of its own, with a player who has 100.00, and the ways in which money moves there. */
class Brand {
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
    await bed
      .team('carol')
      .call(play.decideKyc, { input: { playerId: id, status: 'aprovado', reason: 'documents match' } })
    return id
  }

  async deposit(amount: string): Promise<string> {
    const { playerId, scope } = this
    const input = { playerId, amount, currency: 'BRL', method: 'pix', externalReference: randomUUID() }
    return (await bed.rpc.call(pay.createDeposit, { scope, input })).id
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
    await bed.team(user).call(pay.decideWithdrawal, { input: { withdrawalId, decision } })
  }

  /** Posts with the wallet's rights and by its own code, and asks nobody. */
  async post(
    posting: Omit<
      Extract<Posting, { kind: 'credit' | 'debit' }>,
      'brandId' | 'playerId' | 'currency' | 'transferId' | 'effectiveAt'
    >,
    now = () => new Date(),
  ) {
    const ledger = new Ledger({ ...walletReplica, clock: { now } })
    const { brandId, currency } = this.scope
    const target = { brandId, currency, playerId: this.playerId }
    const outcome = await ledger.post({ ...posting, ...target, transferId: newId('trf'), effectiveAt: new Date() })
    if (outcome.outcome !== 'posted') throw new Error(`not posted: ${outcome.outcome}`)
    return outcome.transferId
  }

  /** The names of the checks that report this brand, or a subject of it that has no brand. */
  foundIn({ differences }: ReconciliationReport): string[] {
    const ours = differences.filter(
      ({ brandId, subject }) => brandId === this.scope.brandId || subject === this.playerId,
    )
    return [...new Set(ours.map(({ check }) => check))].sort()
  }
}

/** Runs as the role of a service, on its own schema. */
async function as(service: ServiceName, text: string, values: readonly unknown[] = []): Promise<void> {
  const { rowCount } = await bed.sql(service).query(text, [...values])
  if (rowCount === 0) throw new Error('nothing was forged')
}

const behindItsBack = (statement: string, values: readonly unknown[]) => tamper(bed.sql('admin'), statement, values)

/** An event that says that a deposit was confirmed. */
async function tellOf({ scope, playerId }: Brand, depositId: string): Promise<void> {
  const event = {
    ...{ id: newId('evt'), type: 'deposit.confirmed', brandId: scope.brandId, environment: 'production' },
    data: { id: depositId, playerId, status: 'confirmed', amount: '5.00', version: 2 },
  }
  await as('payments', 'insert into published_event (published_at, id, message) values (now(), $1, $2)', [
    event.id,
    JSON.stringify({ event }),
  ])
}

const auditCorrection = (
  operation: string,
  input: Readonly<Record<string, string>>,
  subject: string,
  now = () => new Date(),
) =>
  as(
    'wallet',
    `insert into audit_entry (id, at, actor, operation, operation_id, subject, reason, input)
    values ($1, $6, 'alice', $2, $1, $3, $4, $5)`,
    [newId('aud'), operation, subject, input.reason, JSON.stringify(input), now()],
  )

const keysText = (issuer: TestIssuer) => readFileSync(issuer.settings.TEAM_KEYS_FILE ?? '', 'utf8')

interface Signing {
  readonly issuer?: TestIssuer | undefined
  /** When somebody logged in and signed. */
  readonly now?: (() => Date) | undefined
}

/** A session as the wallet keeps it, and what somebody signed in it. */
async function signedBy(user: TeamUser, call: object, { issuer = bed.issuer, now = () => new Date() }: Signing) {
  const operationId = newId('opn')
  const signed = { operation: 'wallet.adjustWallet', operationId, input: {}, ...call }
  const { idToken, proof } = await issuer.signer(user, { now }).sign(signed)
  const session = newId('ses')
  const anchor = JSON.parse(keysText(issuer)).keys[0]
  await as(
    'wallet',
    `insert into team_session (session, person, kind, id_token, anchor, first_used_at) values ($1, $2, 'person', $3, $4, now())`,
    [session, user, idToken, JSON.stringify(anchor)],
  )
  return { user, operationId, proof, session }
}

interface Forged extends Signing {
  readonly amount?: string
  readonly by: TeamUser
  readonly reference?: string
  /** Who proposed it, and who approved it. */
  readonly two?: readonly [TeamUser, TeamUser]
  readonly signs?: object
  /** When it was posted, as the wallet says. */
  readonly posted?: () => Date
}

/** A correction with all its records, as the wallet writes it. */
async function forgeCorrection(
  brand: Brand,
  { amount = '1.00', by, reference = 'gift', two, signs, posted, now = () => new Date(), issuer }: Forged,
): Promise<void> {
  const signing = { issuer, now }
  const what = { playerId: brand.playerId, amount, reference }
  const input = { ...what, reason: 'a gift' }
  const id = newId('prp')
  if (two !== undefined) {
    const proposed = await signedBy(two[0], { input }, signing)
    const approved = await signedBy(two[1], { input, approves: id }, signing)
    await as(
      'wallet',
      `insert into team_proposal (id, operation, fingerprint, input, reason, proposed_by, proposed_at, expires_at, operation_id,
        state, decided_by, decided_at, decided_operation_id, decision_reason, session, proof, decided_session, decided_proof)
      values ($1, 'adjustWallet', $1, $2, 'a gift', $3, now(), now(), $4, 'approved', $5, now(), $6, 'a gift', $7, $8, $9, $10)`,
      [
        ...[id, JSON.stringify(what), proposed.user, proposed.operationId, approved.user, approved.operationId],
        ...[proposed.session, proposed.proof, approved.session, approved.proof],
      ],
    )
  }
  const { operationId, proof, session } = await signedBy(by, { input, ...signs }, signing)
  await as(
    'wallet',
    `insert into audit_entry (id, at, actor, operation, operation_id, subject, reason, input, outcome, session, tool, proof, proposal)
    values ($1, $9, $2, 'adjustWallet', $3, $4, 'a gift', $5, 'done', $6, 'command line', $7, $8)`,
    [
      newId('aud'),
      by,
      operationId,
      brand.playerId,
      JSON.stringify(input),
      session,
      proof,
      two === undefined ? null : id,
      now(),
    ],
  )
  await brand.post({ ...adjustment, amount: toMinorUnits(amount), reference, reason: 'a gift' }, posted)
}

/** Ends an approved withdrawal as a payment does, each part of it where the service would write it. */
async function forgePayment(
  { scope, playerId }: Brand,
  id: string,
  {
    kind = 'team',
    by,
    audited = by,
    changes = [{ field: 'status', before: 'approved', after: 'paid' }],
  }: { kind?: string; by: string; audited?: string | null; changes?: unknown },
): Promise<void> {
  const operationId = newId('opn')
  await as(
    'payments',
    `update withdrawal set status = 'paid', version = 3, paid_at = now(), updated_at = now() where id = $1`,
    [id],
  )
  await as(
    'payments',
    `insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
    values ($1, 3, 'approved', 'paid', now(), $2, $3, $4)`,
    [id, kind, by, operationId],
  )
  if (audited !== null)
    await as(
      'payments',
      `insert into audit_entry (id, at, actor, operation, operation_id, subject, input, changes)
      values ($1, now(), $2, 'decideWithdrawal', $3, $4, '{"decision": "pay"}', $5)`,
      [newId('aud'), audited, operationId, id, JSON.stringify(changes)],
    )
  await as(
    'payments',
    `insert into published_event (published_at, id, message)
    select now(), $1, jsonb_set(jsonb_set(message::jsonb, '{event,data,status}', '"paid"'), '{event,data,version}', '3')::json
    from ${keptEvents('payments')} where message #>> '{event,data,id}' = $2 order by id desc limit 1`,
    [newId('evt'), id],
  )
  const input = { playerId, withdrawalId: id, effectiveAt: new Date().toISOString() }
  await bed.rpc.call(money.captureHold, { scope, input })
}

/** Takes a confirmation back as two people do who give its credit up, each part of it where the service would write it. */
async function forgeEnding(
  brand: Brand,
  {
    isRecorded = true,
    proposedDaysAgo = 0,
    proposal = 'AWAITS_APPROVAL',
  }: { isRecorded?: boolean; proposedDaysAgo?: number | null; proposal?: string | null },
): Promise<string> {
  const id = await brand.deposit('5.00')
  const commandId = newId('cmd')
  const operationId = newId('opn')
  await as(
    'payments',
    `insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
    values ($1, 2, 'pending', 'confirmed', now(), 'operator', 'op', $1), ($1, 3, 'confirmed', 'failed', now(), 'team', 'bob', $2)`,
    [id, operationId],
  )
  await as('payments', `update deposit set status = 'failed', version = 3, failed_at = now() where id = $1`, [id])
  if (isRecorded)
    await as(
      'payments',
      `insert into ended_command (command_id, deposit_id, proposed_by, proposal_operation_id, ended_by, ended_at, operation_id)
      values ($1, $2, 'alice', $1, 'bob', now(), $3)`,
      [commandId, id, operationId],
    )
  const audited = [
    { actor: 'bob', by: operationId, daysAgo: 0, outcome: 'done' },
    ...(proposedDaysAgo === null
      ? []
      : [{ actor: 'alice', by: commandId, daysAgo: proposedDaysAgo, outcome: proposal }]),
  ]
  for (const { actor, by, daysAgo, outcome } of audited)
    await as(
      'payments',
      `insert into audit_entry (id, at, actor, operation, operation_id, subject, input, outcome)
      values ($1, now() - make_interval(days => $2), $3, 'endCommand', $4, $5, '{}', $6)`,
      [newId('aud'), daysAgo, actor, by, commandId, outcome],
    )
  return id
}

async function approved(brand: Brand, amount = '10.00'): Promise<string> {
  const id = await brand.request(amount)
  await brand.decide('alice', id, 'approve')
  return id
}

/** Everything that moves money, a few times each, in an order that the seed decides. */
async function mixedOperations(brands: readonly Brand[], seed: number): Promise<void> {
  const amounts = fc.integer({ min: 1, max: 900 }).map((cents) => fromMinorUnits(BigInt(cents)))
  const [drawn = []] = fc.sample(fc.array(fc.tuple(fc.nat(7), amounts), { minLength: 48, maxLength: 48 }), {
    seed,
    numRuns: 1,
  })
  const step = async (brand: Brand, kind: number, amount: string): Promise<void> => {
    const { scope, playerId } = brand
    const sandbox = scope.environment === 'sandbox'
    if (kind === 0) return void (await brand.register())
    if (kind === 1) return brand.confirm(await brand.deposit(amount))
    if (kind === 2)
      return void (await bed.rpc.call(pay.failDeposit, { scope, input: { depositId: await brand.deposit(amount) } }))
    if (kind === 3) {
      const input = { playerId, amount, reference: randomUUID(), reason: 'goodwill' }
      const { transferId } = await bed.team('alice').call(money.adjustWallet, { input })
      const reversal = { transferId, reference: randomUUID(), reason: 'the wrong player' }
      return void (await bed.team('bob').call(money.reverseTransfer, { input: reversal }))
    }
    const withdrawalId = await brand.request(amount)
    if (kind === 4) return void (await bed.rpc.call(pay.cancelWithdrawal, { scope, input: { withdrawalId } }))
    if (kind === 5) return brand.decide('bob', withdrawalId, 'reject')
    if (sandbox) {
      const decide = (decision: 'approve' | 'pay') =>
        bed.rpc.call(pay.decideWithdrawalInSandbox, { scope, input: { withdrawalId, decision } })
      await decide('approve')
      return void (await decide('pay'))
    }
    await brand.decide('alice', withdrawalId, 'approve')
    await brand.decide('bob', withdrawalId, kind === 6 ? 'pay' : 'fail')
  }
  await Promise.all(
    drawn.map(async ([kind, amount], index) => {
      // A withdrawal that the balance of that moment does not cover is refused, which is an outcome as good as any.
      const code = await refusal(step(brands[index % brands.length] as Brand, kind, amount))
      if (code !== null && code !== 'INSUFFICIENT_FUNDS') throw new Error(`${code} of step ${kind}`)
    }),
  )
}

t.test('mixed operations leave no difference, neither while they are under way nor afterwards', async (t) => {
  const brands = await Promise.all([Brand.funded(), Brand.funded('sandbox'), Brand.funded()])
  await run()
  let isOver = false
  const busy = mixedOperations(brands, 20_260_302).finally(() => {
    isOver = true
  })
  busy.catch(() => {})
  // A full and an incremental one in turn.
  for (let isFull = false; !isOver; isFull = !isFull) t.same((await run(isFull)).differences, [])
  await busy
  for (const isFull of [false, true]) {
    const { differences, checks } = await run(isFull)
    t.same(differences, [])
    for (const { check, compared } of checks) if (!/sums|inFlight/.test(check)) t.ok(compared > 0, check)
  }
})

t.test('what the wallet has not done yet is in flight and no difference', async (t) => {
  const brand = await Brand.funded()
  const [depositId, withdrawalId] = [await brand.deposit('5.00'), await brand.request('5.00')]
  await walletReplica.drain()
  t.equal(await refusal(brand.confirm(depositId)), 'SERVICE_UNAVAILABLE')
  const cancelling = bed.rpc.call(pay.cancelWithdrawal, { scope: brand.scope, input: { withdrawalId } })
  t.equal(await refusal(cancelling), 'SERVICE_UNAVAILABLE')
  t.equal(await refusal(brand.request('6.00')), 'SERVICE_UNAVAILABLE')
  t.equal(await refusal(brand.register()), 'SERVICE_UNAVAILABLE')
  const { differences, inFlight } = await run()
  t.same(differences, [])
  const commands = inFlight.map(({ service, name }) => `${service} ${name}`).sort()
  t.same(
    commands.filter((name) => !/_changed|confirmed/.test(name)),
    ['payments intent', 'payments wallet.creditAccount', 'payments wallet.releaseHold', 'players wallet.openAccount'],
  )
  walletReplica = await bed.start('wallet')
  // The relays take over what the requests have left.
  const rest = (service: ServiceName) =>
    bed.sql(service).query("select from outbox where done_at is null and kind = 'command'")
  for (const service of ['payments', 'players'] as const)
    await eventually(async () => (await rest(service)).rowCount === 0, 60_000)
  t.same((await run()).differences, [])
})

interface Forgery {
  readonly what: string
  readonly found: readonly string[]
  readonly forge: (brand: Brand) => Promise<unknown>
}

const longAgo = () => new Date(Date.now() - 2 * 24 * 3_600_000)

const adjustment = { kind: 'credit', type: 'ADJUSTMENT', counterparty: 'adjustments', amount: 100_000_000n } as const

const forgeries: readonly Forgery[] = [
  {
    what: 'the wallet enters an adjustment that nobody made',
    found: ['corrections'],
    forge: (brand) => brand.post({ ...adjustment, reference: 'gift', reason: 'a gift' }),
  },
  {
    what: 'the wallet enters an adjustment of another amount than a person made',
    found: ['corrections', 'signatures'],
    async forge(brand) {
      const input = { playerId: brand.playerId, amount: '1000.00', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, brand.playerId)
      await brand.post({ ...adjustment, reference: 'gift', reason: 'a gift' })
    },
  },
  {
    what: 'the wallet enters an adjustment for another player than a person named',
    found: ['corrections'],
    async forge(brand) {
      const other = await brand.register()
      const input = { playerId: other, amount: '1000000.00', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, other)
      await brand.post({ ...adjustment, reference: 'gift', reason: 'a gift' })
    },
  },
  {
    what: 'an amount in the audit trail is none',
    found: ['corrections', 'signatures'],
    async forge(brand) {
      const input = { playerId: brand.playerId, amount: 'much', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, brand.playerId)
      await brand.post({ ...adjustment, reference: 'gift', reason: 'a gift' })
    },
  },
  {
    what: 'the wallet takes back a transfer that nobody reversed',
    found: ['corrections'],
    async forge(brand) {
      const { rows } = await bed
        .sql('wallet')
        .query('select id, amount from transfer where brand_id = $1', [brand.scope.brandId])
      const [{ id, amount }] = rows
      const reversal = { kind: 'debit', type: 'REVERSAL', counterparty: 'deposits', reverses: id } as const
      await brand.post({ ...reversal, amount: BigInt(amount), reference: 'back', reason: 'wrong' })
    },
  },
  {
    what: 'the wallet takes an adjustment from the account of the deposits',
    found: ['counterparties', 'signatures'],
    async forge(brand) {
      const input = { playerId: brand.playerId, amount: '1000000.00', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, brand.playerId)
      await brand.post({ ...adjustment, counterparty: 'deposits', reference: 'gift', reason: 'a gift' })
    },
  },
  {
    what: 'the wallet enters an adjustment that a person made, with what proves it',
    found: [],
    forge: (brand) => forgeCorrection(brand, { by: 'finance' }),
  },
  {
    what: 'the wallet enters an adjustment with an audit entry that nobody signed',
    found: ['signatures'],
    async forge(brand) {
      const input = { playerId: brand.playerId, amount: '1000000.00', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, brand.playerId)
      await brand.post({ ...adjustment, reference: 'gift', reason: 'a gift' })
    },
  },
  {
    what: 'the wallet enters an adjustment as if it were of before people signed',
    found: ['signatures'],
    async forge(brand) {
      const input = { playerId: brand.playerId, amount: '1000000.00', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, brand.playerId, longAgo)
      await brand.post({ ...adjustment, reference: 'gift', reason: 'a gift' }, longAgo)
    },
  },
  {
    what: 'the wallet enters an adjustment as if it were of the time of an old login',
    found: ['signatures'],
    forge: (brand) => forgeCorrection(brand, { by: 'finance', now: longAgo, posted: longAgo }),
  },
  {
    what: 'the wallet enters an adjustment with the audit entry and signature of an old login',
    found: ['signatures'],
    forge: (brand) => forgeCorrection(brand, { by: 'finance', now: longAgo }),
  },
  {
    what: 'the wallet enters an adjustment with a signature for another one',
    found: ['signatures'],
    forge: (brand) => forgeCorrection(brand, { by: 'finance', signs: { input: { amount: '0.01' } } }),
  },
  {
    what: 'the wallet enters an adjustment of somebody who may not make one',
    found: ['signatures'],
    forge: (brand) => forgeCorrection(brand, { by: 'support' }),
  },
  {
    what: 'the wallet enters an adjustment of a login that the identity provider did not sign',
    found: ['signatures'],
    forge: (brand) => forgeCorrection(brand, { by: 'finance', issuer: stranger }),
  },
  {
    what: 'the wallet enters an adjustment that takes two people, and two have signed it',
    found: [],
    forge: (brand) => forgeCorrection(brand, { amount: '50.01', by: 'bob', two: ['alice', 'bob'] }),
  },
  {
    what: 'the wallet enters an adjustment that takes two people, and one has signed it',
    found: ['signatures'],
    forge: (brand) => forgeCorrection(brand, { amount: '50.01', by: 'finance' }),
  },
  {
    what: 'the wallet enters an adjustment that one person has proposed and approved',
    found: ['signatures'],
    forge: (brand) => forgeCorrection(brand, { amount: '50.01', by: 'alice', two: ['alice', 'alice'] }),
  },
  {
    what: 'the wallet credits a deposit that nobody made',
    found: ['deposits'],
    forge: (brand) =>
      brand.post({ kind: 'credit', type: 'DEPOSIT', counterparty: 'deposits', amount: 500n, reference: newId('dep') }),
  },
  {
    what: 'the wallet credits a deposit before it is confirmed',
    found: ['deposits'],
    async forge(brand) {
      const reference = await brand.deposit('5.00')
      await brand.post({ kind: 'credit', type: 'DEPOSIT', counterparty: 'deposits', amount: 500n, reference })
    },
  },
  {
    what: 'the wallet pays out what was never held',
    found: ['holds'],
    forge: (brand) =>
      brand.post({
        kind: 'debit',
        type: 'WITHDRAWAL',
        counterparty: 'withdrawals',
        amount: 500n,
        reference: newId('wdr'),
      }),
  },
  {
    what: 'the wallet pays out a withdrawal that is not paid',
    found: ['withdrawals'],
    async forge(brand) {
      const input = {
        playerId: brand.playerId,
        withdrawalId: await approved(brand),
        effectiveAt: new Date().toISOString(),
      }
      await bed.rpc.call(money.captureHold, { scope: brand.scope, input })
    },
  },
  {
    what: 'the wallet holds money for a withdrawal that is not there',
    found: ['withdrawals'],
    forge: ({ scope, playerId }) =>
      bed.rpc.call(money.openHold, { scope, input: { playerId, withdrawalId: newId('wdr'), amount: '5.00' } }),
  },
  {
    what: 'payments sets a deposit to failed that is pending',
    found: ['histories'],
    async forge(brand) {
      const id = await brand.deposit('5.00')
      await as('payments', `update deposit set status = 'failed', failed_at = now(), version = 2 where id = $1`, [id])
    },
  },
  {
    what: 'payments changes the version of a record',
    found: ['histories'],
    async forge(brand) {
      await as('payments', 'update deposit set version = 3 where id = $1', [await brand.deposit('5.00')])
    },
  },
  {
    what: 'payments adds a step that no state machine has',
    found: ['histories'],
    async forge(brand) {
      const id = await brand.deposit('5.00')
      await as('payments', 'update deposit set version = 2 where id = $1', [id])
      await as(
        'payments',
        `insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
        values ($1, 2, 'pending', 'pending', now(), 'operator', 'op', $1)`,
        [id],
      )
    },
  },
  {
    what: 'payments leaves a step out',
    found: ['events', 'histories'],
    async forge(brand) {
      const id = await brand.request('5.00')
      await as('payments', `update withdrawal set status = 'cancelled', version = 3 where id = $1`, [id])
      await as(
        'payments',
        `insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
        values ($1, 3, 'under_review', 'cancelled', now(), 'operator', 'op', $1)`,
        [id],
      )
      const input = { playerId: brand.playerId, withdrawalId: id }
      await bed.rpc.call(money.releaseHold, { scope: brand.scope, input })
    },
  },
  {
    what: 'one person approves and pays',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await approved(brand), { by: 'alice' }),
  },
  {
    what: 'one person approves and pays, up to the amount for which one is enough',
    found: [],
    forge: async (brand) => forgePayment(brand, await approved(brand, '9.99'), { by: 'alice' }),
  },
  {
    what: 'one person approves and pays, and payments says that one was enough',
    found: ['decisions'],
    forge: async (brand) =>
      forgePayment(brand, await approved(brand), {
        by: 'alice',
        changes: [{ field: 'payAloneUpTo', before: null, after: '10.00' }],
      }),
  },
  {
    what: 'payments writes a list of changes that is none',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await approved(brand), { by: 'alice', changes: {} }),
  },
  {
    what: 'a payment is in nobody’s audit trail',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await approved(brand), { by: 'bob', audited: null }),
  },
  {
    what: 'a payment is in the audit trail of another person',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await approved(brand), { by: 'bob', audited: 'alice' }),
  },
  {
    what: 'a payment in production is said to be the sandbox’s',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await approved(brand), { kind: 'sandbox', by: 'op', audited: null }),
  },
  {
    what: 'another approver is written into a withdrawal',
    found: ['decisions'],
    forge: async (brand) =>
      // The service's role is refused this. An administrator may switch the triggers off.
      behindItsBack(`update payments.withdrawal set approved_by = 'carol' where id = $1`, [await approved(brand)]),
  },
  {
    what: 'the audit trail names a decision that was not made',
    found: ['decisions'],
    // It cannot say whose brand that is. The player stands in for the withdrawal, so that the difference is found again.
    forge: ({ playerId }) =>
      as(
        'payments',
        `insert into audit_entry (id, at, actor, operation, operation_id, subject, input)
        values ($1, now(), 'alice', 'decideWithdrawal', $1, $2, '{"decision": "pay"}')`,
        [newId('aud'), playerId],
      ),
  },
  {
    what: 'a credit is given up as two people do',
    found: [],
    forge: (brand) => forgeEnding(brand, {}),
  },
  {
    what: 'a credit is given up as two people did before proposals were kept by one mechanism',
    found: [],
    forge: (brand) => forgeEnding(brand, { proposal: null }),
  },
  {
    what: 'a credit is given up whose proposal was refused',
    found: ['decisions'],
    forge: (brand) => forgeEnding(brand, { proposal: 'ROLE_REQUIRED' }),
  },
  {
    what: 'a confirmation is taken back, and no command was ended',
    found: ['decisions', 'events', 'histories'],
    forge: (brand) => forgeEnding(brand, { isRecorded: false }),
  },
  {
    what: 'a credit is given up that nobody else had proposed',
    found: ['decisions'],
    forge: (brand) => forgeEnding(brand, { proposedDaysAgo: null }),
  },
  {
    what: 'a credit is given up that somebody else had proposed long ago',
    found: ['decisions'],
    forge: (brand) => forgeEnding(brand, { proposedDaysAgo: 2 }),
  },
  {
    what: 'an operator is told of a confirmation that was taken back',
    found: ['events'],
    async forge(brand) {
      await tellOf(brand, await forgeEnding(brand, {}))
    },
  },
  {
    what: 'the event of a confirmed deposit is removed',
    found: ['events'],
    async forge(brand) {
      const id = await brand.deposit('5.00')
      await brand.confirm(id)
      const left = 'select from outbox where aggregate = $1'
      await eventually(async () => (await bed.sql('payments').query(left, [id])).rowCount === 0)
      await as('payments', `delete from published_event where message #>> '{event,data,id}' = $1`, [id])
    },
  },
  {
    what: 'the event of a confirmed deposit is replaced by that of another',
    found: ['events'],
    async forge(brand) {
      const [id, other] = [await brand.deposit('5.00'), await brand.deposit('6.00')]
      await brand.confirm(id)
      await brand.confirm(other)
      const left = 'select from outbox where aggregate = any($1)'
      await eventually(async () => (await bed.sql('payments').query(left, [[id, other]])).rowCount === 0)
      await as(
        'payments',
        `update published_event e set copy = o.copy from published_event o
        where e.message #>> '{event,data,id}' = $1 and o.message #>> '{event,data,id}' = $2`,
        [id, other],
      )
    },
  },
  {
    what: 'an operator is told of a deposit that is not confirmed',
    found: ['events'],
    async forge(brand) {
      await tellOf(brand, await brand.deposit('5.00'))
    },
  },
  {
    what: 'an operator is told of another amount',
    found: ['events'],
    async forge(brand) {
      const id = await approved(brand)
      const left = 'select from outbox where aggregate = $1'
      await eventually(async () => (await bed.sql('payments').query(left, [id])).rowCount === 0)
      await as(
        'payments',
        `update published_event set message = jsonb_set(message::jsonb, '{event,data,amount}', '"99.00"')::json
        where message #>> '{event,data,id}' = $1`,
        [id],
      )
    },
  },
  {
    what: 'a player is registered without an account',
    found: ['accounts'],
    forge: ({ playerId }) =>
      as(
        'players',
        `insert into player select (jsonb_populate_record(p, jsonb_build_object('id', $2::text, 'external_id', $2::text))).*
        from player p where id = $1`,
        [playerId, newId('ply')],
      ),
  },
]

t.test('what is forged is named, each by its check, and nothing else is', async (t) => {
  const forged = await Promise.all(forgeries.map(async (forgery) => ({ ...forgery, brand: await Brand.funded() })))
  const before = await run()
  await Promise.all(forged.map(({ forge, brand }) => forge(brand)))
  const [incremental, full] = [await run(false), await run()]
  for (const { what, found, brand } of forged)
    t.test(`${what}: found by ${found.join(' and ') || 'nothing'}`, async (t) => {
      t.same(brand.foundIn(before), [])
      t.same(brand.foundIn(incremental), found, 'by the incremental run')
      t.same(brand.foundIn(full), found, 'by the full run')
    })
})

/** What a run says of the signatures of a brand's corrections. */
const signatureFaults = async ({ scope }: Brand, options: Parameters<typeof runOf>[1]) =>
  (await runOf(bed, options)).differences
    .filter(({ check, brandId }) => check === 'signatures' && brandId === scope.brandId)
    .map(({ actual }) => actual.replace(/^.*\): /, ''))

t.test(
  'who belonged to the team is recorded beside the heads, so that an old signature counts when all has changed',
  async (t) => {
    const brand = await Brand.funded()
    const input = { playerId: brand.playerId, amount: '1.00', reference: randomUUID(), reason: 'goodwill' }
    await bed.team('finance').call(money.adjustWallet, { input })
    const store = folderStore(t.testdir())
    const heads = { store, everyMs: 1_000 }
    const found = (options: Parameters<typeof runOf>[1]) => signatureFaults(brand, options)
    t.same(await found({ team: { ...team, rollOutMs: 3_600_000 } }), [], 'of before people signed, nothing is asked')
    t.same(await found({ team, heads }), [])
    t.same(await found({ team, heads }), [])
    t.equal((await store.list('team/', '')).length, 1, 'the same is recorded once')

    const keys = fixedKeys([{ ...JSON.parse(keysText(stranger)).keys[0], kid: 'new' }])
    const changed = { ...team, keys, identity: { ...team.identity, rolesOfGroup: new Map() } }
    t.same(
      await found({ team: changed }),
      ['it rests on a key that is not known: "test"'],
      'nothing says what was before',
    )
    t.same(await found({ team: changed, heads }), [])
    t.equal((await store.list('team/', '')).length, 2)
    const away = { ...team, keys: issuerKeys({ issuer: 'http://127.0.0.1:1', keysFile: undefined }) }
    t.same(await found({ team: away, heads }), [], 'while the provider is away')
    t.match(await found({ team: away }), [/cannot be reached/])
  },
)

t.test('an amount that one person may correct later justifies no earlier correction', async (t) => {
  const brand = await Brand.funded()
  const heads = { store: folderStore(t.testdir()), everyMs: 1_000 }
  t.same(await signatureFaults(brand, { team, heads }), [])
  await forgeCorrection(brand, { amount: '60.00', by: 'finance' })
  const byOne = ['it takes two people, and nobody has approved it']
  t.same(await signatureFaults(brand, { team, heads }), byOne)
  const raised = { ...team, aloneUpTo: '100.00' }
  t.same(await signatureFaults(brand, { team: raised, heads }), byOne)
  await forgeCorrection(brand, { amount: '70.00', by: 'finance', reference: 'later' })
  t.same(await signatureFaults(brand, { team: raised, heads }), byOne, 'that one counts for later ones')
})

t.test('without a record of the team a correction that was named stays named when it is old', async (t) => {
  const brand = await Brand.funded()
  const input = { playerId: brand.playerId, amount: '1000000.00', reference: 'gift', reason: 'a gift' }
  await auditCorrection('adjustWallet', input, brand.playerId)
  const key = await brand.post({ ...adjustment, reference: 'gift', reason: 'a gift' })
  const at = new Date(Date.now() + 25 * 3_600_000)
  const history = await TeamHistory.read(team, at, undefined)
  const url = bed.environment('wallet').RECONCILE_DATABASE_URL ?? ''
  const snapshots = await Snapshots.connect(url, { statementMsMax: 60_000, signal: new AbortController().signal })
  t.teardown(() => snapshots.close())
  const found = async (named: readonly string[]) => {
    const question = signatures({ at, team: history, named: new Set(named) })
    return (await snapshots.see((db) => ask(db, question, [key]))).map((one) => one.key)
  }
  t.same(await found([]), [])
  t.same(await found([key]), [key])
})
