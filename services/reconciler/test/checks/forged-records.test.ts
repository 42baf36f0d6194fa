import { operations } from '@backoffice/contracts'
import { hourMs, newId } from '@backoffice/process'
import { eventually, keptEvents, seenWithdrawal, type TeamUser } from '@backoffice/test-kit'
import t from 'tap'
import {
  accounts,
  add,
  adjustment,
  as,
  auditCorrection,
  Brand,
  bed,
  behindItsBack,
  eachIsNamed,
  type Forgeries,
  forgeAudited,
  forgeCall,
  run,
} from './brand.ts'

const { wallet: money, payments: pay } = operations

const credit = (reference: string) =>
  ({ kind: 'credit', type: 'DEPOSIT', counterparty: 'deposits', amount: 500n, reference }) as const

/** The wallet itself posts it, with all that belongs to it. */
const ofLedger: Forgeries = {
  'the wallet enters an adjustment that nobody made: corrections': (brand) => brand.post(adjustment),
  'the wallet enters an adjustment of another amount than a person made: corrections signatures': (brand) =>
    forgeAudited(brand, { amount: '1000.00' }),
  'the wallet enters an adjustment for another player than a person named: corrections': async (brand) =>
    forgeAudited(brand, { playerId: await brand.register() }),
  'an amount in the audit trail is none: corrections signatures': (brand) => forgeAudited(brand, { amount: 'much' }),
  'the wallet takes back a transfer that nobody reversed: corrections': async (brand) => {
    const { rows } = await bed
      .sql('wallet')
      .query('select id, amount from transfer where brand_id = $1', [brand.scope.brandId])
    const [{ id, amount }] = rows
    const reversal = { kind: 'debit', type: 'REVERSAL', counterparty: 'deposits', reverses: id } as const
    await brand.post({ ...reversal, amount: BigInt(amount), reference: 'back', reason: 'wrong' })
  },
  'an administrator lets the wallet take an adjustment from the account of the deposits: counterparties signatures':
    async (brand) => {
      const input = { playerId: brand.playerId, amount: '1000000.00', reference: 'gift', reason: 'a gift' }
      await auditCorrection('adjustWallet', input, brand.playerId)
      const admin = bed.sql('admin')
      await admin.query('alter table wallet.transfer disable trigger check_sides')
      await brand.post({ ...adjustment, counterparty: 'deposits' })
      await admin.query('alter table wallet.transfer enable trigger check_sides')
    },
  'the wallet credits a deposit that nobody made: deposits': (brand) => brand.post(credit(newId('dep'))),
  'the wallet credits a deposit before it is confirmed: deposits': async (brand) =>
    brand.post(credit(await brand.deposit('5.00'))),
  'the wallet pays out what was never held: holds': (brand) =>
    brand.post({
      ...{ kind: 'debit', type: 'WITHDRAWAL', counterparty: 'withdrawals', amount: 500n, reference: newId('wdr') },
    }),
  'the wallet pays out a withdrawal that is not paid: withdrawals': async (brand) => {
    const { scope, playerId } = brand
    const input = { playerId, withdrawalId: await brand.approved(), effectiveAt: new Date().toISOString() }
    await bed.rpc.call(money.captureHold, { scope, input })
  },
  'the wallet holds money for a withdrawal that is not there: withdrawals': ({ scope, playerId }) =>
    bed.rpc.call(money.openHold, { scope, input: { playerId, withdrawalId: newId('wdr'), amount: '5.00' } }),
}

/** Changes what the ledger has of a player with three credits of 100.00 and a hold. */
const edit = (statement: string) => async (brand: Brand) => {
  for (const amount of ['100.00', '100.00']) await brand.confirm(await brand.deposit(amount))
  await brand.request('5.00')
  await behindItsBack(
    `with account as (select * from wallet.account where owner_id = $1),
      entries as (select e.* from wallet.entry e join account a on a.id = e.account_id) ${statement}`,
    [brand.playerId],
  )
}
const second = '(select transfer_id from entries where seq = 2)'
const own = 'account_id in (select id from account)'

const edits: Forgeries = {
  'a balance: balances': edit('update wallet.account set posted = posted + 1 where owner_id = $1'),
  'what is held: balances': edit('update wallet.account set held = 0 where owner_id = $1'),
  'the reason of a transfer: chains': edit(`update wallet.transfer set reason = 'another' where id = ${second}`),
  'the time of a transfer: chains': edit(
    `update wallet.transfer set effective_at = effective_at + interval '1 ms' where id = ${second}`,
  ),
  'the balance after an entry: chains': edit(`update wallet.entry set balance = balance + 1 where seq = 2 and ${own}`),
  'an entry, which is gone: balances chains transfers': edit(`delete from wallet.entry where seq = 2 and ${own}`),
  'a transfer, which is gone: chains deposits': edit(`delete from wallet.transfer where id = ${second}`),
  'the places of two entries: chains': edit(`update wallet.entry e set transfer_id = o.transfer_id from entries o
      where e.${own} and e.seq in (1, 2) and o.seq = 3 - e.seq`),
  'the brand’s side of a transfer, which is gone: transfers': edit(
    `delete from wallet.entry where transfer_id = ${second} and seq is null`,
  ),
  'a hold, which is gone: balances withdrawals': edit(`delete from wallet.hold where ${own}`),
  'a hold, which is released: balances withdrawals': edit(
    `update wallet.hold set state = 'released', closed_at = now() where ${own}`,
  ),
  'a hold, which is captured: balances holds withdrawals': edit(
    `update wallet.hold set state = 'captured', closed_at = now(), transfer_id = 'trf_none' where ${own}`,
  ),
}

/** A step of a history. In production the service's role is refused one of the sandbox. */
const addStep = (
  record_id: string,
  version: number,
  [from_status, to_status]: readonly [string, string],
  by: Readonly<Record<string, unknown>> = {},
) =>
  add('admin', 'payments.status_transition', {
    ...{ record_id, version, from_status, to_status, at: new Date(), by_kind: 'operator', by_name: 'op' },
    ...{ operation_id: newId('opn'), ...by },
  })

const addAudit = (row: Readonly<Record<string, unknown>>) =>
  add('payments', 'audit_entry', {
    id: newId('aud'),
    at: new Date(),
    actor: 'alice',
    outcome: 'done',
    input: {},
    ...row,
  })

/** An event that says that a deposit was confirmed. */
function tellOf({ scope, playerId }: Brand, depositId: string): Promise<void> {
  const data = { id: depositId, playerId, status: 'confirmed', amount: '5.00', version: 2 }
  const event = { type: 'deposit.confirmed', brandId: scope.brandId, environment: 'production', data }
  return add('payments', 'published_event', { published_at: new Date(), id: newId('evt'), message: { event } })
}

/** Waits until the events of some records are published, and changes that of the first one. */
async function changeEvent(ids: readonly string[], statement: string): Promise<void> {
  const left = 'select from outbox where aggregate = any($1)'
  await eventually(async () => (await bed.sql('payments').query(left, [ids])).rowCount === 0)
  await as('payments', statement, ids)
}

async function confirmed(brand: Brand, amount = '5.00'): Promise<string> {
  const id = await brand.deposit(amount)
  await brand.confirm(id)
  return id
}

interface Payment {
  readonly kind?: string
  readonly by: string
  readonly byId?: string | null
  /** Who has signed it, as the audit trail says. */
  readonly audited?: TeamUser | null
  readonly auditedId?: string
  readonly auditedName?: string
  readonly changes?: unknown
  readonly at?: Date
  readonly paidAt?: Date
}

/** Ends an approved withdrawal as a payment does, each part of it where the service would write it. */
async function forgePayment({ scope, playerId }: Brand, id: string, payment: Payment): Promise<void> {
  const { kind = 'team', by, audited = by as TeamUser, at = new Date(), paidAt = at } = payment
  const { byId = kind === 'team' ? `${accounts}${by}` : null, auditedName = audited } = payment
  const { auditedId = `${accounts}${audited}` } = payment
  const { changes = [{ field: 'status', before: 'approved', after: 'paid' }] } = payment
  await as(
    'payments',
    `update withdrawal set status = 'paid', version = 3, paid_at = $2, updated_at = $2 where id = $1`,
    [id, paidAt],
  )
  let operation_id: string = newId('opn')
  if (audited !== null) {
    const input = { ...(await seenWithdrawal(bed.team('alice'), id)), decision: 'pay' }
    const row = { actor: auditedName, actor_id: auditedId, changes }
    const call = { operation: pay.decideWithdrawal, by: audited, input, row, now: () => at }
    operation_id = (await forgeCall(call)).operation_id
  }
  await addStep(id, 3, ['approved', 'paid'], { at, by_kind: kind, by_name: by, by_id: byId, operation_id })
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

/** An approved withdrawal of an amount, and its payment. */
const pays =
  (payment: Payment, amount = '10.00') =>
  async (brand: Brand) =>
    forgePayment(brand, await brand.approved(amount), payment)

/** Whose account approved a withdrawal. */
async function approverOf(id: string): Promise<string> {
  const { rows } = await bed.sql('payments').query('select approved_by_id from withdrawal where id = $1', [id])
  return rows[0].approved_by_id
}

/** Takes a confirmation back as two people do who give its credit up, each part of it where the service would write it. */
async function forgeEnding(
  brand: Brand,
  {
    isRecorded = true,
    proposedDaysAgo = 0 as number | null,
    outcome = 'AWAITS_APPROVAL',
    proposer = `${accounts}alice`,
    two = ['alice', 'bob'] as readonly [TeamUser, TeamUser],
  } = {},
): Promise<string> {
  const id = await brand.deposit('5.00')
  const commandId = newId('cmd')
  const input = { commandId, reason: 'never' }
  const { operation_id } = await forgeCall({ operation: pay.endCommand, by: 'bob', input, two })
  await addStep(id, 2, ['pending', 'confirmed'])
  const bob = { by_kind: 'team', by_name: 'bob', by_id: `${accounts}bob` }
  await addStep(id, 3, ['confirmed', 'failed'], { ...bob, operation_id })
  await as(
    'payments',
    `with failed as (
       update deposit set status = 'failed', version = 3, failed_at = now() where id = $1 returning player_id, amount
     )
     update depositor p set day_total = day_total - f.amount from failed f where f.player_id = p.player_id`,
    [id],
  )
  if (isRecorded)
    await add('payments', 'ended_command', {
      ...{ command_id: commandId, deposit_id: id, proposed_by: 'alice', proposal_operation_id: commandId },
      ...{ ended_by: 'bob', ended_at: new Date(), operation_id },
    })
  const ending = { operation: 'endCommand', subject: commandId }
  if (proposedDaysAgo !== null) {
    const at = new Date(Date.now() - proposedDaysAgo * 24 * hourMs)
    await addAudit({ ...ending, at, actor_id: proposer, operation_id: commandId, outcome })
  }
  return id
}

const endsCredit = (ending?: Parameters<typeof forgeEnding>[1]) => (brand: Brand) => forgeEnding(brand, ending)

/** A message that the relay does not take for a thousand years. */
const addToOutbox = (
  kind: string,
  name: string,
  aggregate: string,
  message: object,
  created_at: unknown = '2999-01-01',
) =>
  add('payments', 'outbox', {
    ...{ id: newId('cmd'), aggregate, aggregate_seq: kind === 'command' ? 900 : 901, kind, name, message },
    ...{ environment: 'production', operation_id: newId('opn'), created_at, leased_until: '2999-01-01' },
  })

const waitsFor = (seconds: number) => (brand: Brand) =>
  addToOutbox('command', 'wallet.x', newId('dep'), { scope: brand.scope }, new Date(Date.now() - seconds * 1_000))

/** Cancels a withdrawal, with its history, and with a release and an event that are due in a thousand years. */
async function cancelInFuture({ scope, playerId }: Brand, id: string): Promise<void> {
  await as('payments', `update withdrawal set status = 'cancelled', version = 2 where id = $1`, [id])
  await addStep(id, 2, ['under_review', 'cancelled'])
  const { brandId, environment } = scope
  const data = { id, playerId, status: 'cancelled', amount: '5.00', version: 2 }
  const event = { type: 'withdrawal.status_changed', brandId, environment, data }
  await addToOutbox('command', 'wallet.releaseHold', id, { scope })
  await addToOutbox('event', 'withdrawal.status_changed', id, { event })
}

/** A new withdrawal, which is then said to have a status. */
const says = (status: string) => async (brand: Brand) =>
  behindItsBack(
    `update payments.withdrawal set status = $2, version = case when $2 in ('refused', 'abandoned') then 0 else 1 end,
      paid_at = case when $2 = 'paid' then now() end, dropped_at = case when $2 in ('refused', 'abandoned') then now() end
    where id = $1`,
    [await brand.request('5.00'), status],
  )

/** A withdrawal that was refused, is abandoned, and then said to have been of so many cents more. */
const abandoned = (more: number) => async (brand: Brand) => {
  await brand.request('100.01').catch(() => {})
  const statement = `update payments.withdrawal set status = 'abandoned', amount = amount + $2 where player_id = $1`
  await behindItsBack(statement, [brand.playerId, more])
}

const namesApprover = (column: string) => async (brand: Brand) =>
  behindItsBack(`update payments.withdrawal set ${column} = 'other' where id = $1`, [await brand.approved()])

/** A pending deposit, of which payments then says something else. */
const saysOfDeposit = (change: string) => async (brand: Brand) =>
  as('payments', `update deposit set ${change} where id = $1`, [await brand.deposit('5.00')])

const ofPayments: Forgeries = {
  'payments cancels a withdrawal, and its hold is to be released in a thousand years: inFlight withdrawals': async (
    brand,
  ) => cancelInFuture(brand, await brand.request('5.00')),
  'payments says that a deposit of production is of the sandbox: environments events': async (brand) =>
    behindItsBack("update payments.deposit set environment = 'sandbox' where id = $1", [await confirmed(brand)]),
  'payments confirms a deposit, and it is to be credited in a thousand years: deposits histories inFlight': async (
    brand,
  ) => {
    const id = await brand.deposit('5.00')
    await as('payments', `update deposit set status = 'confirmed', confirmed_at = now() where id = $1`, [id])
    await addToOutbox('command', 'wallet.creditAccount', id, { scope: brand.scope })
  },
  'payments confirms a deposit, and nobody credits it: deposits histories': saysOfDeposit(
    `status = 'confirmed', confirmed_at = now()`,
  ),
  'payments sets a deposit to failed that is pending: deposits histories': saysOfDeposit(
    `status = 'failed', failed_at = now(), version = 2`,
  ),
  'a deposit, and the sum of its day, is of another amount than its credit: deposits events': async (brand) =>
    behindItsBack(
      `with d as (update payments.deposit set amount = amount + 1 where id = $1 returning player_id)
        update payments.depositor p set day_total = day_total + 1 from d where d.player_id = p.player_id`,
      [await confirmed(brand)],
    ),
  // Far enough from the limit for a busy machine.
  'a command has waited for a moment: nothing': waitsFor(0),
  'a command has waited for more than five minutes: inFlight': waitsFor(302),
  'payments changes the version of a record: histories': saysOfDeposit('version = 3'),
  'payments adds a step that no state machine has: histories': async (brand) => {
    const id = await brand.deposit('5.00')
    await as('payments', 'update deposit set version = 2 where id = $1', [id])
    await addStep(id, 2, ['pending', 'pending'])
  },
  'payments leaves a step out: events histories': async (brand) => {
    const id = await brand.request('5.00')
    await as('payments', `update withdrawal set status = 'cancelled', version = 3 where id = $1`, [id])
    await addStep(id, 3, ['under_review', 'cancelled'])
    const input = { playerId: brand.playerId, withdrawalId: id }
    await bed.rpc.call(money.releaseHold, { scope: brand.scope, input })
  },
  ...Object.fromEntries(
    ['paid', 'rejected', 'cancelled', 'failed', 'refused', 'abandoned'].map((status) => [
      `a withdrawal is said to be ${status}, and its hold is open: histories withdrawals`,
      says(status),
    ]),
  ),
  'a withdrawal is abandoned whose hold was refused: nothing': abandoned(0),
  'a withdrawal is abandoned whose hold was refused for another amount: withdrawals': abandoned(1),
  'one person approves and pays: decisions': pays({ by: 'alice' }),
  'one person approves and pays under another name: decisions signatures': async (brand) => {
    const id = await brand.approved()
    const other = { by: 'alice.souza', byId: await approverOf(id), auditedName: 'alice.souza' }
    await forgePayment(brand, id, { ...other, audited: 'alice' })
  },
  'another account than the audit trail names pays under the name that it has: decisions signatures': pays({
    by: 'bob',
    byId: 'idp bob',
    auditedId: 'idp other',
  }),
  // The service's role is refused these two. An administrator may switch the triggers off.
  'another approver is written into a withdrawal: decisions': namesApprover('approved_by'),
  'the account of another approver is written into a withdrawal: decisions': namesApprover('approved_by_id'),
  'payments forgets what a player has deposited today: deposits': ({ playerId }) =>
    as('payments', 'update depositor set day_total = 0 where player_id = $1', [playerId]),
  'one person approves and pays, up to the amount for which one is enough: nothing': pays({ by: 'alice' }, '9.99'),
  'one person approves and pays several, each of them small and together too much for one: decisions': async (
    brand,
  ) => {
    for (const amount of ['5.00', '5.00']) await pays({ by: 'alice' }, amount)(brand)
  },
  'one person approves several that are small together with one that another pays: nothing': async (brand) => {
    for (const by of ['alice', 'bob']) await pays({ by }, '5.00')(brand)
  },
  'one person approves and pays, and the withdrawal has another time than its history: decisions': pays(
    { by: 'alice', paidAt: new Date(Date.now() - 25 * hourMs) },
    '5.00',
  ),
  'one person approves and pays, and payments says that one was enough: decisions': pays({
    by: 'alice',
    changes: [{ field: 'payAloneUpTo', before: null, after: '10.00' }],
  }),
  'payments writes a list of changes that is none: decisions': pays({ by: 'alice', changes: {} }),
  'a payment in production is said to be the sandbox’s: decisions': pays({ kind: 'sandbox', by: 'op', audited: null }),
  // It cannot say whose brand that is. The player stands in for the withdrawal, so that the difference is found again.
  'the audit trail names a decision that was not made: decisions': ({ playerId: subject }) =>
    addAudit({ operation: 'decideWithdrawal', operation_id: newId('opn'), subject, input: { decision: 'pay' } }),
  'a credit is given up as two people do: nothing': endsCredit(),
  'a credit is given up by one account under two names: decisions': endsCredit({ proposer: `${accounts}bob` }),
  'a credit is given up by one who has signed for two: signatures': endsCredit({ two: ['bob', 'bob'] }),
  'a credit is given up whose proposal was refused: decisions': endsCredit({ outcome: 'ROLE_REQUIRED' }),
  'a confirmation is taken back, and no command was ended: decisions events histories': endsCredit({
    isRecorded: false,
  }),
  'a credit is given up that nobody else had proposed: decisions': endsCredit({ proposedDaysAgo: null }),
  'a credit is given up that somebody else had proposed long ago: decisions': endsCredit({ proposedDaysAgo: 2 }),
  'an operator is told of a confirmation that was taken back: events': async (brand) =>
    tellOf(brand, await forgeEnding(brand)),
  'the event of a confirmed deposit is removed: events': async (brand) =>
    changeEvent([await confirmed(brand)], `delete from published_event where message #>> '{event,data,id}' = $1`),
  'the event of a confirmed deposit is replaced by that of another: events': async (brand) =>
    changeEvent(
      [await confirmed(brand), await confirmed(brand, '6.00')],
      `update published_event e set message = o.message from published_event o
        where e.message #>> '{event,data,id}' = $1 and o.message #>> '{event,data,id}' = $2`,
    ),
  'an operator is told of a deposit that is not confirmed: events': async (brand) =>
    tellOf(brand, await brand.deposit('5.00')),
  'an operator is told of another amount: events': async (brand) =>
    changeEvent(
      [await brand.approved()],
      `update published_event set message = jsonb_set(message::jsonb, '{event,data,amount}', '"99.00"')::json
        where message #>> '{event,data,id}' = $1`,
    ),
}

/** Decides on an identity as players writes it down, with an audit entry that nobody signed if it is told of. */
const decides =
  (actor: string, status: string, isTold = false) =>
  async ({ playerId }: Brand) => {
    const [at, operation_id] = [new Date(), newId('opn')]
    const statement = 'update player set kyc_status = $2, kyc_version = kyc_version + 1 where id = $1'
    await as('players', statement, [playerId, status])
    // The service's role is refused the sandbox's actor. An administrator may switch the triggers off.
    await add('admin', 'players.player_change', {
      ...{ at, player_id: playerId, actor, field: 'kycStatus', previous: 'aprovado', next: status, operation_id },
    })
    if (isTold)
      await add('players', 'audit_entry', {
        ...{ id: newId('aud'), at, actor, operation: 'decideKyc', operation_id, subject: playerId },
        ...{ input: { playerId, status }, outcome: 'done' },
      })
  }

const ofPlayers: Forgeries = {
  'players ends an approval: nothing': decides('players', 'expirado', true),
  'players ends an approval that no audit entry tells of: decisions': decides('players', 'expirado'),
  'players rejects by itself: decisions': decides('players', 'reprovado', true),
  'the sandbox decides in production: decisions': decides('sandbox', 'reprovado'),
  'a decision has an audit entry that nobody signed: decisions': decides('carol', 'reprovado', true),
  'players writes a status that was never decided: decisions': ({ playerId }) =>
    as('players', `update player set kyc_status = 'reprovado' where id = $1`, [playerId]),
  'a player is registered without an account: accounts': ({ playerId }) =>
    as(
      'players',
      `insert into player select (jsonb_populate_record(p, jsonb_build_object(
          'id', $2::text, 'external_id', $2::text, 'kyc_status', 'nao_iniciado'
        ))).* from player p where id = $1`,
      [playerId, newId('ply')],
    ),
}

// One table of all: a brand each, and two runs. What people sign is forged in forged-calls.test.ts.
t.test('what is forged is named, each by its check, and nothing else is', (t) =>
  eachIsNamed(t, { ...ofLedger, ...edits, ...ofPayments, ...ofPlayers }),
)

t.test('a payment that is given an earlier time counts for those that were judged before', async (t) => {
  const brand = await Brand.funded()
  const [first, second] = [await brand.approved('5.00'), await brand.approved('5.00')]
  await forgePayment(brand, second, { by: 'alice' })
  t.same(brand.foundIn(await run(false)), '')
  await forgePayment(brand, first, { by: 'alice', at: new Date(Date.now() - 60_000) })
  const { differences } = await run(false)
  t.match(
    differences.filter(({ brandId }) => brandId === brand.scope.brandId),
    [{ subject: second, actual: `alice approved and paid 1000 of ${brand.playerId} within 24 hours` }],
  )
})
