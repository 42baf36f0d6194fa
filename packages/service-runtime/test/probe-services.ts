import { type EventData, events, operation, operations, Rejection, type Scope } from '@backoffice/contracts'
import type { TestBed } from '@backoffice/test-kit'
import { Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import {
  type Clock,
  command,
  posting,
  type Reaction,
  type RunningService,
  type ServiceConfig,
  sqlOf,
  startService,
} from '../src/index.ts'

const closed = { additionalProperties: false } as const

/** A command under an id that the broker's permissions know: it counts on a record, as the input says. */
export const countUp = operation({
  id: 'createDeposit',
  service: 'payments',
  audience: 'operator',
  kind: 'command',
  summary: 'Count up',
  body: Type.Object(
    {
      record: Type.String({ minLength: 1 }),
      /** Events and commands to send, in this order. */
      sends: Type.Optional(Type.Array(Type.Union([Type.Literal('event'), Type.Literal('command')]))),
      refuse: Type.Optional(
        Type.Union([
          Type.Literal('prepare'),
          Type.Literal('away'),
          Type.Literal('execute'),
          Type.Literal('undeclared'),
          Type.Literal('unavailable'),
          Type.Literal('bug'),
        ]),
      ),
    },
    closed,
  ),
  reply: Type.Object({ count: Type.Integer() }, closed),
  rejects: ['DEPOSIT_NOT_PENDING'],
})

/** The same as a team's command. */
export const correct = operation({
  id: 'decideWithdrawal',
  service: 'payments',
  audience: 'team',
  kind: 'command',
  summary: 'Correct a record',
  body: Type.Object(
    { brandId: Type.String(), recordId: Type.String(), secretNote: Type.String(), reason: Type.String() },
    closed,
  ),
  reply: Type.Object({ count: Type.Integer() }, closed),
})

const increment = (id: string) => sql<{ count: number }>`
  insert into record (id, count) values (${id}, 1) on conflict (id) do update set count = record.count + 1 returning count
`

export const creditOf = (depositId: string) => ({
  playerId: 'ply_1',
  depositId,
  amount: '1.00',
  effectiveAt: '2026-03-02T12:00:00.000Z',
})

/** Tables that the probes write to. Call before the services are used. */
export async function createProbeTables(bed: Pick<TestBed<unknown>, 'sql'>): Promise<void> {
  await bed.sql('admin').query(`
    create table payments.record (id text primary key, count integer not null);
    create table wallet.credit (reference text primary key, calls integer not null);
    create table webhooks.heard (event_id text not null, type text not null);
  `)
}

/** The service whose runtime is under test. */
export const payments = {
  start: (config: ServiceConfig, options: { readonly clock?: Clock } = {}): Promise<RunningService> =>
    startService({
      name: 'payments',
      config,
      entities: [],
      clock: options.clock,
      operations: () => ({ countUp: countUpHandler, correct: correctHandler }) as never,
    }),
}

const countUpHandler = command(countUp, {
  async prepare({ input }) {
    if (input.refuse === 'prepare') throw new Rejection('DEPOSIT_NOT_PENDING', { found: 'before' })
    if (input.refuse === 'away') throw new Rejection('SERVICE_UNAVAILABLE')
    return 'prepared'
  },
  async execute({ input, scope, operationId }, tools, prepared) {
    if (prepared !== 'prepared') throw new Error('prepare did not run')
    const { rows } = await increment(input.record).execute(tools.sql)
    for (const [index, kind] of (input.sends ?? []).entries()) {
      const reference = `${operationId}-${index}`
      if (kind === 'command') send(tools, input.record, scope, reference)
      else tools.emit({ kind: 'deposit.confirmed', aggregate: input.record, scope, data: eventData(reference) })
    }
    if (input.refuse === 'execute') throw new Rejection('DEPOSIT_NOT_PENDING', { count: rows[0]?.count })
    if (input.refuse === 'undeclared') throw new Rejection('KYC_NOT_APPROVED')
    if (input.refuse === 'unavailable') throw new Rejection('SERVICE_UNAVAILABLE')
    if (input.refuse === 'bug') throw new Error('a bug')
    return { count: rows[0]?.count ?? 0 }
  },
})

function send(tools: { send: (command: never) => void }, aggregate: string, scope: Scope, reference: string): void {
  const sent = { operation: operations.wallet.creditAccount, aggregate, scope, input: creditOf(reference) }
  tools.send(sent as never)
}

export const eventData = (id: string): EventData<'deposit.confirmed'> => ({
  ...(events['deposit.confirmed'].example as EventData<'deposit.confirmed'>),
  id,
})

const correctHandler = command(correct, {
  async execute({ input }, tools) {
    const { rows } = await increment(input.recordId).execute(tools.sql)
    return { count: rows[0]?.count ?? 0 }
  },
})

/** The service that commands go to. `during` runs in each call, before its effect; throw in it, or wait. */
export const wallet = {
  during: async (_reference: string): Promise<void> => {},
  order: [] as string[],
  start: (config: ServiceConfig): Promise<RunningService> =>
    startService({
      name: 'wallet',
      config,
      entities: [],
      operations: () =>
        ({
          creditAccount: posting(operations.wallet.creditAccount, async ({ input: { depositId } }, { em }) => {
            await wallet.during(depositId)
            wallet.order.push(depositId)
            await sql`
              insert into credit (reference, calls) values (${depositId}, 1)
              on conflict (reference) do update set calls = credit.calls + 1
            `.execute(sqlOf(em))
            return { transferId: `trf_${depositId}` }
          }),
        }) as never,
    }),
}

/** The service that hears events, through reactions that a test chooses. */
export const webhooksWith = (reactions: readonly Reaction[]) => ({
  start: (config: ServiceConfig, options: { readonly clock?: Clock } = {}): Promise<RunningService> =>
    startService({
      name: 'webhooks',
      config,
      entities: [],
      clock: options.clock,
      operations: () => ({}) as never,
      reactions: () => reactions,
    }),
})
