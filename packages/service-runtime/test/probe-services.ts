import {
  type EventData,
  events,
  internal,
  operations,
  operator,
  personal,
  Rejection,
  type Scope,
  sandbox,
  service,
  team,
} from '@backoffice/contracts'
import { recordAction, teamPlugin } from '@backoffice/team-access'
import { teamTables } from '@backoffice/team-access/migrations'
import { Type } from '@sinclair/typebox'
import { brandTable, type Migration, runtimeMigrations } from '../src/database/runtime-tables.ts'
import { type Db, defineService, handle, type LockingDb, type Reaction, type SentMessage, sql } from '../src/index.ts'

const closed = { additionalProperties: false } as const
const Count = Type.Object({ count: Type.Integer() }, closed)
const sends = Type.Optional(Type.Array(Type.Union([Type.Literal('event'), Type.Literal('command')])))

/** Operations under ids that the broker's permissions know. */
const table = service('payments', {
  /** Counts on a record, alone in its transaction. */
  createDeposit: operator.command({
    summary: 'Count up',
    body: Type.Object(
      {
        record: Type.String({ minLength: 1 }),
        /** Events and commands to send, in this order. */
        sends,
      },
      closed,
    ),
    reply: Count,
    rejects: ['TRANSFER_CONFLICT'],
  }),
  /** The same, as a person of the team. */
  decideWithdrawal: team.command({
    roles: ['finance'],
    summary: 'Correct a record',
    body: Type.Object(
      { brandId: Type.String(), recordId: Type.String(), secretNote: Type.String(), reason: Type.String() },
      closed,
    ),
    reply: Count,
  }),
  /** Takes a fresh login in production, and two people there. */
  correctByTwo: team.command({
    roles: ['finance'],
    freshLogin: { when: { environment: 'production' } },
    twoPeople: { when: { environment: 'production' } },
    summary: 'Correct a record',
    body: Type.Object(
      { recordId: Type.String(), environment: Type.String(), reason: Type.Optional(Type.String()) },
      closed,
    ),
    reply: Count,
    rejects: ['TRANSFER_CONFLICT'],
  }),
  /** The same for what is idempotent by a reference. */
  postByTwo: team.direct({
    roles: ['finance'],
    twoPeople: 'in production',
    summary: 'Correct a record once for each reference',
    body: Type.Object(
      { recordId: Type.String(), reference: Type.String(), reason: Type.Optional(Type.String()) },
      closed,
    ),
    reply: Count,
    rejects: ['TRANSFER_CONFLICT'],
  }),
  /** Tells who somebody is, if masked. */
  readPerson: team.query({
    roles: ['support', 'finance'],
    summary: 'Read a person',
    body: Type.Object({ playerId: Type.String() }, closed),
    reply: Type.Object({ name: personal('name', Type.String()) }, closed),
    rejects: ['PLAYER_NOT_FOUND'],
  }),
  /** Adds to a record; calls that wait together share a transaction. */
  confirmDeposit: operator.command({
    summary: 'Add up',
    body: Type.Object(
      {
        record: Type.String({ minLength: 1 }),
        /** A record's count may not fall below zero: the constraint breaks when it is saved. */
        by: Type.Integer(),
        sends,
        /** What the sends are about, where it is not the record: `conflictKeys` does not name it. */
        about: Type.Optional(Type.String()),
        /** Waits in the transaction, after it wrote, while somebody else has this advisory lock. */
        waitsAfter: Type.Optional(Type.Integer()),
      },
      closed,
    ),
    reply: Count,
    rejects: ['TRANSFER_CONFLICT'],
  }),
  decideWithdrawalInSandbox: sandbox.command({
    summary: 'Count up in the sandbox',
    body: Type.Object({ record: Type.String() }, closed),
    reply: Count,
  }),
  /** Reads records; calls that wait together share a query. */
  getWithdrawal: operator.query({
    summary: 'Read a record',
    body: Type.Object({ record: Type.String(), fails: Type.Optional(Type.Boolean()) }, closed),
    reply: Count,
    rejects: ['DEPOSIT_NOT_FOUND'],
  }),
  /** Answers what it is told to, or tries to write. */
  readDayDeposits: internal.query({
    callers: ['players'],
    summary: 'Answer anything',
    body: Type.Object(
      {
        bytes: Type.Optional(Type.Integer()),
        surplus: Type.Optional(Type.Boolean()),
        writes: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    reply: Type.Object({ text: Type.String() }, closed),
  }),
})
export const countUp = table.createDeposit
export const correct = table.decideWithdrawal
export const { correctByTwo, postByTwo, readPerson } = table
export const addUp = table.confirmDeposit
export const countInSandbox = table.decideWithdrawalInSandbox
export const readRecord = table.getWithdrawal
export const answerAnything = table.readDayDeposits

const probeTables = (statement: string): Migration => ({ name: '0001_probe', sql: statement })

async function increment(db: Db, id: string): Promise<number> {
  const [row] = await db<{ count: number }>`
    insert into record (id, count) values (${id}, 1) on conflict (id) do update set count = record.count + 1
    returning count
  `
  return row?.count ?? 0
}

export const creditOf = (depositId: string) => ({
  playerId: 'ply_1',
  depositId,
  amount: '1.00',
  effectiveAt: '2026-03-02T12:00:00.000Z',
})

export const eventData = (id: string): EventData<'deposit.confirmed'> => ({
  ...(events['deposit.confirmed'].example as EventData<'deposit.confirmed'>),
  id,
})

const sentOf = (kinds: readonly ('event' | 'command')[], aggregate: string, scope: Scope, operationId: string) =>
  kinds.map((kind, index): SentMessage => {
    const reference = `${operationId}-${index}`
    return kind === 'event'
      ? { kind: 'deposit.confirmed', aggregate, scope, data: eventData(reference) }
      : { operation: operations.wallet.creditAccount, aggregate, scope, input: creditOf(reference) as never }
  })

/** What commands about a record throw, and when: in `prepare`, or once they did their work. */
export const faults = {
  inPrepare: new Map<string, Error>(),
  atWork: new Map<string, (count: number) => Error | undefined>(),
}

const failPrepare = (record: string) => {
  const fault = faults.inPrepare.get(record)
  if (fault !== undefined) throw fault
}
const failWork = (record: string, count: number) => {
  const fault = faults.atWork.get(record)?.(count)
  if (fault !== undefined) throw fault
}

/** What the batched command saw. */
export const adding = {
  /** Calls that reached it, before they wait for a batch. */
  prepared: 0,
  /** The records of each batch. */
  batches: [] as string[][],
  /** Runs in each batch's transaction before it loads. */
  during: async (_db: LockingDb): Promise<void> => {},
}

/** The queries that were made for reads of records. */
export const reading = { batches: [] as string[][], during: async (): Promise<void> => {} }

/** The service whose runtime is under test. */
export const payments = defineService({
  name: 'payments',
  settings: {},
  plugins: [teamPlugin()],
  entities: async () => [(await import('./probe-entities.ts')).RecordEntity],
  migrations: [
    ...runtimeMigrations('payments', teamTables),
    { name: '0001_brand', sql: brandTable('payments') },
    probeTables('create table payments.record (id text primary key, count integer not null check (count >= 0))'),
  ],
  compose: () => ({
    operations: {
      countUpHandler,
      correctHandler,
      correctByTwoHandler,
      postByTwoHandler,
      readPersonHandler,
      addUpHandler,
      sandboxHandler,
      readHandler,
      anythingHandler,
    } as never,
  }),
})

const countUpHandler = handle(countUp, {
  async prepare({ input }) {
    failPrepare(input.record)
    return 'prepared'
  },
  async execute({ input, scope, operationId }, { db, emit, send }, prepared) {
    if (prepared !== 'prepared') throw new Error('prepare did not run')
    const count = await increment(db, input.record)
    for (const sent of sentOf(input.sends ?? [], input.record, scope, operationId)) {
      if ('operation' in sent) send(sent as never)
      else emit(sent)
    }
    failWork(input.record, count)
    return { count }
  },
})

const correctHandler = handle(correct, {
  execute: async ({ input }, { db }) => ({ count: await increment(db, input.recordId) }),
})

const sandboxHandler = handle(countInSandbox, {
  execute: async ({ input }, { db }) => ({ count: await increment(db, input.record) }),
})

const correctByTwoHandler = handle(correctByTwo, {
  async execute({ input: { recordId } }, { db }) {
    const count = await increment(db, recordId)
    failWork(recordId, count)
    return { count }
  },
})

/** The references that were posted. */
const posted = new Set<string>()

const postByTwoHandler = handle(postByTwo, {
  approval: async ({ input: { recordId } }) => (recordId.startsWith('sandbox') ? 'nobody' : 'second person'),
  async run(call, { db, now }) {
    const { recordId, reference } = call.input
    if (posted.has(reference)) return { count: 1 }
    const count = await db.transaction(async (tx) => {
      await recordAction(tx, postByTwo, call, now)
      const count = await increment(tx, recordId)
      failWork(recordId, count)
      return count
    })
    posted.add(reference)
    return { count }
  },
})

const readPersonHandler = handle(readPerson, async ({ input: { playerId } }) => {
  if (playerId === 'nobody') throw new Rejection('PLAYER_NOT_FOUND')
  return { name: 'Zuleika' }
})

const addUpHandler = handle(addUp, {
  async prepare({ input }) {
    adding.prepared++
    failPrepare(input.record)
  },
  conflictKeys: ({ input }) => [input.record],
  async load(calls, { db }) {
    const ids = calls.map(({ input }) => input.record)
    adding.batches.push(ids)
    await adding.during(db)
    const rows = await db<{ id: string; count: number }>`
      select id, count from record where id = any(${ids}::text[]) order by id for update
    `
    const counts = new Map(rows.map(({ id, count }) => [id, count]))
    return ids.map((id) => counts.get(id) ?? 0)
  },
  decide({ input, scope, operationId }, before) {
    const count = before + input.by
    failWork(input.record, count)
    return {
      reply: { count },
      change: { id: input.record, count, waitsAfter: input.waitsAfter },
      sends: sentOf(input.sends ?? [], input.about ?? input.record, scope, operationId),
    }
  },
  save: (changes) => [
    sql`
      insert into record (id, count)
      select * from unnest(${changes.map(({ id }) => id)}::text[], ${changes.map(({ count }) => count)}::int[])
      on conflict (id) do update set count = excluded.count
    `,
    ...changes.flatMap(({ waitsAfter: lock }) =>
      lock === undefined ? [] : [sql`select pg_advisory_xact_lock(${lock}::bigint)`],
    ),
  ],
})

const readHandler = handle(readRecord, {
  async read(calls, { db }) {
    const ids = calls.map(({ input }) => input.record)
    reading.batches.push(ids)
    await reading.during()
    const rows = await db<{ id: string; count: number }>`
      select id, count from record where id = any(${ids}::text[])
    `
    const counts = new Map(rows.map(({ id, count }) => [id, count]))
    if (calls.some(({ input }) => input.fails)) throw new Error('a bug in one of them')
    return ids.map((id) => {
      const count = counts.get(id)
      return count === undefined ? new Rejection('DEPOSIT_NOT_FOUND') : { count }
    })
  },
})

const anythingHandler = handle(answerAnything, async ({ input }, { db }) => {
  if (input.writes) await db`insert into record (id, count) values ('written by a query', 1)`
  const reply = { text: 'x'.repeat(input.bytes ?? 1) }
  return input.surplus ? { ...reply, surplus: true } : reply
})

/** What the service that commands go to did. `during` runs in each call, before its effect; throw in it, or wait. */
export const crediting = { during: async (_reference: string): Promise<void> => {}, order: [] as string[] }

export const wallet = defineService({
  name: 'wallet',
  settings: {},
  plugins: [teamPlugin()],
  migrations: [
    ...runtimeMigrations('wallet', teamTables),
    { name: '0001_brand', sql: brandTable('wallet') },
    probeTables('create table wallet.credit (reference text primary key, calls integer not null)'),
  ],
  compose: () => ({
    operations: {
      creditAccount: handle(operations.wallet.creditAccount, async ({ input: { depositId } }, { db }) => {
        await crediting.during(depositId)
        crediting.order.push(depositId)
        await db`
          insert into credit (reference, calls) values (${depositId}, 1)
          on conflict (reference) do update set calls = credit.calls + 1
        `
        return { transferId: `trf_${depositId}` }
      }),
    } as never,
  }),
})

/** The service that hears events, through reactions that a test chooses. */
export const webhooksWith = (reactions: readonly Reaction[]) =>
  defineService({
    name: 'webhooks',
    settings: {},
    plugins: [teamPlugin()],
    migrations: [
      ...runtimeMigrations('webhooks', teamTables),
      { name: '0001_brand', sql: brandTable('webhooks') },
      probeTables('create table webhooks.heard (event_id text not null, type text not null)'),
    ],
    compose: () => ({ operations: {} as never, reactions }),
  })
