// proof: a hundred forgeries, each a record of its own.

import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { seenWithdrawal } from '@backoffice/test-kit'
import t from 'tap'
import { add, as, Brand, bed } from './brand.ts'
import { accounts, forgeCall } from './forge-call.ts'
import { allAreNamed, type RightCall } from './seeded.ts'

const operation = operations.payments.decideWithdrawal

interface Decision extends RightCall {
  readonly id: string
  readonly version: number
  readonly from: string
  readonly to: string
}

const decisions = [
  { decision: 'approve', from: 'under_review', to: 'approved' },
  { decision: 'reject', from: 'under_review', to: 'rejected' },
  { decision: 'pay', from: 'approved', to: 'paid' },
  { decision: 'fail', from: 'approved', to: 'failed' },
] as const

const brand = await Brand.funded()
await brand.confirm(await brand.deposit('500.00'))
const other = await brand.request('0.02')

/** A decision that is due, on a withdrawal of its own. Who approves does not pay. */
async function prepare(number: number): Promise<Decision> {
  const { decision, from, to } = decisions[number % decisions.length] ?? decisions[0]
  const id = from === 'approved' ? await brand.approved('0.10') : await brand.request('0.10')
  const input = { ...(await seenWithdrawal(bed.team('bob'), id)), decision }
  const others = {
    ...{ withdrawalId: other, playerId: 'ply_other', amount: '0.01', currency: 'USD' },
    ...{ decision: decision === 'reject' ? 'approve' : 'reject' },
    ...(from === 'approved' && { destinationDigest: 'x'.repeat(43) }),
  }
  return {
    operation,
    input,
    by: 'bob',
    notBy: 'compliance',
    others,
    id,
    from,
    to,
    version: from === 'approved' ? 3 : 2,
  }
}

interface Step {
  readonly at?: Date
  readonly by?: string
  readonly byId?: string | null
  readonly operationId?: string
}

/** Writes a step with the password of payments. */
async function step(
  { id, version, from, to }: Decision,
  { at = new Date(), by = 'bob', byId = `${accounts}${by}`, operationId = newId('opn') }: Step = {},
): Promise<string> {
  await as(
    'payments',
    `update withdrawal set status = $2::text, version = $3, updated_at = $4, reviewed_at = $4,
      paid_at = case when $2 = 'paid' then $4::timestamptz end,
      approved_by = case when $2 = 'approved' then $5 else approved_by end,
      approved_by_id = case when $2 = 'approved' then $6 else approved_by_id end where id = $1`,
    [id, to, version, at, by, byId],
  )
  await add('payments', 'status_transition', {
    ...{ record_id: id, version, from_status: from, to_status: to, at, by_kind: 'team', by_name: by, by_id: byId },
    operation_id: operationId,
  })
  return id
}

t.test('decisions on withdrawals that nobody has signed as they are', async (t) => {
  const honest: string[] = []
  for (const decision of ['pay', 'fail'] as const) {
    const id = await brand.approved('0.10')
    await brand.decide('bob', id, decision)
    honest.push(id)
  }
  const rejected = await brand.request('0.10')
  await brand.decide('bob', rejected, 'reject')
  await bed.rpc.call(operations.payments.cancelWithdrawal, {
    ...{ scope: brand.scope, input: { withdrawalId: await brand.request('0.10') } },
  })
  await allAreNamed<Decision>(
    t,
    {
      checks: ['decisions', 'signatures'],
      prepare,
      effect: (decision, { at, actor, actor_id, operation_id }) =>
        step(decision, { at, by: actor, byId: actor_id, operationId: operation_id }),
      more: {
        'there is no call': (decision) => step(decision),
        'it is said to be the operator’s': async ({ id, version, from, to }) => {
          await as('payments', `update withdrawal set version = $2 where id = $1`, [id, version])
          await add('payments', 'status_transition', {
            ...{ record_id: id, version, from_status: from, to_status: to, at: new Date(), by_kind: 'operator' },
            operation_id: newId('opn'),
          })
          return id
        },
        'the same person approves and pays': async () => {
          const id = await brand.approved('10.00')
          const input = { ...(await seenWithdrawal(bed.team('alice'), id)), decision: 'pay' }
          const { operation_id, at } = await forgeCall({ operation, by: 'alice', input })
          const payment = { ...(await prepare(2)), id }
          return step(payment, { at, by: 'alice', operationId: operation_id })
        },
        'the call has had an effect before': async () => {
          const id = await brand.approved('0.10')
          await as(
            'payments',
            `insert into audit_entry (id, at, actor, actor_id, session, tool, proof, operation, operation_id, subject, reason,
              input, outcome) select $2, now(), actor, actor_id, session, tool, proof, operation, operation_id, subject, reason,
              input, outcome from audit_entry where subject = $1 and operation = 'decideWithdrawal'`,
            [id, newId('aud')],
          )
          return id
        },
      },
    },
    [...honest, rejected],
  )
})
