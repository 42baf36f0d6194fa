import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, keptEvents } from '@backoffice/test-kit'
import t from 'tap'
import { as, Brand, bed, eachIsNamed, type Forgery, run } from './brand.ts'
import { behindItsBack as tamper } from './run.ts'

const { wallet: money } = operations

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

/** Ends an approved withdrawal as a payment does, each part of it where the service would write it. */
async function forgePayment(
  { scope, playerId }: Brand,
  id: string,
  {
    kind = 'team',
    by,
    byId = null,
    audited = by,
    auditedId = byId,
    changes = [{ field: 'status', before: 'approved', after: 'paid' }],
    at = new Date(),
    paidAt = at,
  }: {
    kind?: string
    by: string
    byId?: string | null
    audited?: string | null
    auditedId?: string | null
    changes?: unknown
    at?: Date
    paidAt?: Date
  },
): Promise<void> {
  const operationId = newId('opn')
  await as(
    'payments',
    `update withdrawal set status = 'paid', version = 3, paid_at = $2, updated_at = $2 where id = $1`,
    [id, paidAt],
  )
  // In production the service's role is refused a step of the sandbox. An administrator may switch the triggers off.
  await behindItsBack(
    `insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, by_id, operation_id)
    values ($1, 3, 'approved', 'paid', $5, $2, $3, $6, $4)`,
    [id, kind, by, operationId, at, byId],
  )
  if (audited !== null)
    await as(
      'payments',
      `insert into audit_entry (id, at, actor, actor_id, operation, operation_id, subject, input, changes, outcome)
      values ($1, $6, $2, $7, 'decideWithdrawal', $3, $4, '{"decision": "pay"}', $5, 'done')`,
      [newId('aud'), audited, operationId, id, JSON.stringify(changes), at, auditedId],
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
    proposedDaysAgo = 0,
    proposal = 'AWAITS_APPROVAL',
    proposer = 'iss alice',
  }: { isRecorded?: boolean; proposedDaysAgo?: number | null; proposal?: string; proposer?: string },
): Promise<string> {
  const id = await brand.deposit('5.00')
  const commandId = newId('cmd')
  const operationId = newId('opn')
  await as(
    'payments',
    `insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, by_id, operation_id)
    values ($1, 2, 'pending', 'confirmed', now(), 'operator', 'op', null, $1),
      ($1, 3, 'confirmed', 'failed', now(), 'team', 'bob', 'iss bob', $2)`,
    [id, operationId],
  )
  await as(
    'payments',
    `with failed as (
       update deposit set status = 'failed', version = 3, failed_at = now() where id = $1 returning player_id, amount
     )
     update depositor p set day_total = day_total - f.amount from failed f where f.player_id = p.player_id`,
    [id],
  )
  if (isRecorded)
    await as(
      'payments',
      `insert into ended_command (command_id, deposit_id, proposed_by, proposal_operation_id, ended_by, ended_at, operation_id)
      values ($1, $2, 'alice', $1, 'bob', now(), $3)`,
      [commandId, id, operationId],
    )
  const audited = [
    { actor: 'bob', account: 'iss bob', by: operationId, daysAgo: 0, outcome: 'done' },
    ...(proposedDaysAgo === null
      ? []
      : [{ actor: 'alice', account: proposer, by: commandId, daysAgo: proposedDaysAgo, outcome: proposal }]),
  ]
  for (const { actor, account, by, daysAgo, outcome } of audited)
    await as(
      'payments',
      `insert into audit_entry (id, at, actor, actor_id, operation, operation_id, subject, input, outcome)
      values ($1, now() - make_interval(days => $2), $3, $7, 'endCommand', $4, $5, '{}', $6)`,
      [newId('aud'), daysAgo, actor, by, commandId, outcome, account],
    )
  return id
}

/** Cancels a withdrawal, with its history, and with a release and an event that are due in a thousand years. */
async function cancelInFuture({ scope, playerId }: Brand, id: string): Promise<void> {
  const operationId = newId('opn')
  await as('payments', `update withdrawal set status = 'cancelled', version = 2 where id = $1`, [id])
  await as(
    'payments',
    `insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
    values ($1, 2, 'under_review', 'cancelled', now(), 'operator', $2, $3)`,
    [id, scope.operatorId, operationId],
  )
  const { brandId, environment } = scope
  const data = { id, playerId, status: 'cancelled', amount: '5.00', version: 2 }
  const event = { type: 'withdrawal.status_changed', brandId, environment, data }
  for (const [kind, name, message] of [
    ['command', 'wallet.releaseHold', { scope }],
    ['event', 'withdrawal.status_changed', { event }],
  ] as const)
    await as(
      'payments',
      `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, operation_id, created_at, leased_until)
      values ($1, $2, $3, $4, $5, $6, 'production', $7, '2999-01-01', '2999-01-01')`,
      [newId('cmd'), id, kind === 'command' ? 900 : 901, kind, name, JSON.stringify(message), operationId],
    )
}

const forgeries: readonly Forgery[] = [
  {
    what: 'payments cancels a withdrawal, and its hold is to be released in a thousand years',
    found: ['inFlight', 'withdrawals'],
    forge: async (brand) => cancelInFuture(brand, await brand.request('5.00')),
  },
  {
    what: 'payments says that a deposit of production is of the sandbox',
    found: ['environments', 'events'],
    forge: async (brand) => {
      const id = await brand.deposit('5.00')
      await brand.confirm(id)
      await behindItsBack("update payments.deposit set environment = 'sandbox' where id = $1", [id])
    },
  },
  {
    what: 'payments confirms a deposit, and it is to be credited in a thousand years',
    found: ['deposits', 'histories', 'inFlight'],
    forge: async (brand) => {
      const id = await brand.deposit('5.00')
      await as('payments', `update deposit set status = 'confirmed', confirmed_at = now() where id = $1`, [id])
      await as(
        'payments',
        `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
        values ($1, $2, 900, 'command', 'wallet.creditAccount', $3, 'sandbox', '2999-01-01', '2999-01-01')`,
        [newId('cmd'), id, JSON.stringify({ scope: brand.scope })],
      )
    },
  },
  {
    what: 'payments sets a deposit to failed that is pending',
    found: ['deposits', 'histories'],
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
    forge: async (brand) => forgePayment(brand, await brand.approved(), { by: 'alice' }),
  },
  {
    what: 'one person approves and pays under another name',
    found: ['decisions'],
    async forge(brand) {
      const id = await brand.approved()
      await forgePayment(brand, id, { by: 'alice.souza', byId: await approverOf(id) })
    },
  },
  {
    what: 'another account than the audit trail names pays under the name that it has',
    found: ['decisions'],
    forge: async (brand) =>
      forgePayment(brand, await brand.approved(), { by: 'bob', byId: 'idp bob', auditedId: 'idp other' }),
  },
  {
    what: 'the account of another approver is written into a withdrawal',
    found: ['decisions'],
    forge: async (brand) =>
      behindItsBack(`update payments.withdrawal set approved_by_id = 'other' where id = $1`, [await brand.approved()]),
  },
  {
    what: 'payments forgets what a player has deposited today',
    found: ['deposits'],
    forge: ({ playerId }) => as('payments', 'update depositor set day_total = 0 where player_id = $1', [playerId]),
  },
  {
    what: 'one person approves and pays, up to the amount for which one is enough',
    found: [],
    forge: async (brand) => forgePayment(brand, await brand.approved('9.99'), { by: 'alice' }),
  },
  {
    what: 'one person approves and pays several, each of them small and together too much for one',
    found: ['decisions'],
    async forge(brand) {
      for (const amount of ['5.00', '5.00']) await forgePayment(brand, await brand.approved(amount), { by: 'alice' })
    },
  },
  {
    what: 'one person approves several that are small together with one that another pays',
    found: [],
    async forge(brand) {
      for (const by of ['alice', 'bob']) await forgePayment(brand, await brand.approved('5.00'), { by })
    },
  },
  {
    what: 'one person approves and pays, and the withdrawal has another time than its history',
    found: ['decisions'],
    forge: async (brand) =>
      forgePayment(brand, await brand.approved('5.00'), { by: 'alice', paidAt: new Date(Date.now() - 25 * 3_600_000) }),
  },
  {
    what: 'one person approves and pays, and payments says that one was enough',
    found: ['decisions'],
    forge: async (brand) =>
      forgePayment(brand, await brand.approved(), {
        by: 'alice',
        changes: [{ field: 'payAloneUpTo', before: null, after: '10.00' }],
      }),
  },
  {
    what: 'payments writes a list of changes that is none',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await brand.approved(), { by: 'alice', changes: {} }),
  },
  {
    what: 'a payment is in nobody’s audit trail',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await brand.approved(), { by: 'bob', audited: null }),
  },
  {
    what: 'a payment is in the audit trail of another person',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await brand.approved(), { by: 'bob', audited: 'alice' }),
  },
  {
    what: 'a payment in production is said to be the sandbox’s',
    found: ['decisions'],
    forge: async (brand) => forgePayment(brand, await brand.approved(), { kind: 'sandbox', by: 'op', audited: null }),
  },
  {
    what: 'another approver is written into a withdrawal',
    found: ['decisions'],
    forge: async (brand) =>
      // The service's role is refused this. An administrator may switch the triggers off.
      behindItsBack(`update payments.withdrawal set approved_by = 'carol' where id = $1`, [await brand.approved()]),
  },
  {
    what: 'the audit trail names a decision that was not made',
    found: ['decisions'],
    // It cannot say whose brand that is. The player stands in for the withdrawal, so that the difference is found again.
    forge: ({ playerId }) =>
      as(
        'payments',
        `insert into audit_entry (id, at, actor, operation, operation_id, subject, input, outcome)
        values ($1, now(), 'alice', 'decideWithdrawal', $1, $2, '{"decision": "pay"}', 'done')`,
        [newId('aud'), playerId],
      ),
  },
  {
    what: 'a credit is given up as two people do',
    found: [],
    forge: (brand) => forgeEnding(brand, {}),
  },
  {
    what: 'a credit is given up by one account under two names',
    found: ['decisions'],
    forge: (brand) => forgeEnding(brand, { proposer: 'iss bob' }),
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
        `update published_event e set message = o.message from published_event o
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
      const id = await brand.approved()
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
]

t.test('what is forged in payments is named, each by its check, and nothing else is', (t) => eachIsNamed(t, forgeries))

t.test('a payment that is given an earlier time counts for those that were judged before', async (t) => {
  const brand = await Brand.funded()
  const [first, second] = [await brand.approved('5.00'), await brand.approved('5.00')]
  await forgePayment(brand, second, { by: 'alice' })
  t.same(brand.foundIn(await run(false)), [])
  await forgePayment(brand, first, { by: 'alice', at: new Date(Date.now() - 60_000) })
  const { differences } = await run(false)
  t.match(
    differences.filter(({ brandId }) => brandId === brand.scope.brandId),
    [{ subject: second, actual: `alice approved and paid 1000 of ${brand.playerId} within 24 hours` }],
  )
})
