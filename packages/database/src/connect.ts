import type { Socket } from 'node:net'
import type { ServiceName } from '@backoffice/contracts'
import { Lane, limitsMs, measurePool, retry, secret } from '@backoffice/process'
import type { EntityManager } from '@mikro-orm/postgresql'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import {
  type Database,
  type Db,
  execute,
  type Fragment,
  type Queryable,
  type ReadDb,
  type Statements,
  type Transaction,
  type TransactionOptions,
} from './db.ts'
import type { Entities, EntityManagers } from './entities.ts'
import { isInFailedTransaction, isOfReplica, isRetryable, isStaleConnection } from './faults.ts'
import type { Vault } from './vault.ts'

/**
 * A step with which a service changes something outside of its process. Whatever it does between two steps, nobody else
 * can see. So these are all the points where a crash, or the order of two calls, can make a difference.
 */
export interface Step {
  readonly kind: 'statement' | 'commit' | 'call' | 'publish'
  /** The text of the statement, the operation that is called (`service.operation`), or the kind of the event. */
  readonly name: string
  /** The transaction of a statement or a commit. Without one, a statement is a transaction of its own. */
  readonly transaction?: object
}

/**
 * Stands around each step of a service, and calls `run` to take it. Only tests give a service one: to hold a step up, to
 * put the steps of two calls in order, or to let the service die before or after a step. Without one nothing is wrapped.
 */
export type Interceptor = <T>(step: Step, run: () => Promise<T>) => Promise<T>

/**
 * The login role with which a service reads: it has the rights and the password of the service's own role, and its
 * sessions refuse to write.
 */
export const readerOf = (role: string): string => `${role}_reader`

/** Not in the driver's types. */
const socketOf = (client: PoolClient) =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream

/**
 * Closes connections over which nothing was sent or received for `silenceMs`. A server that is alive replies or reports an
 * error sooner, because its own limits for statements and idle transactions are shorter. A server whose machine was lost
 * stays silent. Without this limit its connections would hang for a quarter of an hour, until the kernel gives up.
 */
export function endSilentConnections(pool: Pool, silenceMs = limitsMs.silence): void {
  pool.on('connect', (client) => {
    const stream = socketOf(client)
    stream.setTimeout(silenceMs, () => stream.destroy(new Error('the connection was terminated: PostgreSQL is silent')))
  })
}

/**
 * The URL of the same connection over TLS, with the server's certificate and name verified. Without a file the URL
 * stays as it is.
 * @param caFile the certificate of the authority, as PEM
 */
export function verifiedUrl(url: string, caFile: string | undefined): string {
  if (caFile === undefined) return url
  const verified = new URL(url)
  verified.searchParams.set('sslmode', 'verify-full')
  verified.searchParams.set('sslrootcert', caFile)
  return verified.href
}

const attemptsMax = 4
/** Reads are batched, so few connections serve many callers. */
const writersPerReader = 4
/** Of their own, since a list or an export may take long, and operators' requests wait for the readers. */
const teamReadersMax = 2

interface ConnectOptions {
  /** Nothing where SQL serves. */
  readonly loadEntities?: (() => Promise<Entities>) | undefined
  readonly vault: Vault
  /** Only for tests. */
  readonly intercept?: Interceptor | undefined
}

const noEntities = () => Promise.reject(new Error('there are no entities here'))

/**
 * Connects as the service's role, and as its role for reading. A table that is named without a schema is the service's own,
 * by the settings of the roles. Connections are opened on first use.
 */
export async function connectDatabase(
  service: ServiceName,
  config: DatabaseConfig,
  { loadEntities = noEntities, vault, intercept }: ConnectOptions,
): Promise<Database> {
  const reading = { ...config, DATABASE_URL: readerUrl(config.DATABASE_URL) }
  const readersMax = Math.ceil(config.DATABASE_POOL_MAX / writersPerReader)
  const writers = openPool(config, { program: service, purpose: 'write', max: config.DATABASE_POOL_MAX })
  const readers = openPool(reading, { program: service, purpose: 'read', max: readersMax })
  const teamReaders = openPool(reading, { program: service, purpose: 'team', max: teamReadersMax })
  const loneTransactions = new Lane<() => Promise<void>>(Math.ceil(config.DATABASE_POOL_MAX / 2), (run) => run())
  // On first use: MikroORM is the largest thing in a process, and hardly any request of an operator needs it.
  let loading: Promise<EntityManagers> | undefined
  const managers = () => {
    loading ??= Promise.all([import('./entities.ts'), loadEntities()]).then(([{ entityManagers }, entities]) =>
      entityManagers(service, entities),
    )
    return loading
  }
  return Object.assign(overPool(writers, { managers, vault, intercept }), {
    reader: overPool(readers, { managers, vault, intercept: sayItWrote }) as ReadDb,
    teamReader: overPool(teamReaders, { managers, vault, intercept: sayItWrote }) as ReadDb,
    transaction: <T>(run: (db: Transaction) => Promise<T>, options?: TransactionOptions) => {
      const attempt = () =>
        retrying(() => attemptTransaction({ pool: writers, managers, vault, intercept }, run, options))
      return options?.alone === true ? inLane(loneTransactions, attempt) : attempt()
    },
    async close() {
      await Promise.all([writers, readers, teamReaders].map((pool) => pool.end()))
    },
  })
}

/** A single pool, for a program that has part of a service's data, no operations, and nothing sealed. */
export function connectPool(config: DatabaseConfig, program: string): Statements & Pick<Database, 'close'> {
  const pool = openPool(config, { program, purpose: 'write', max: config.DATABASE_POOL_MAX })
  return Object.assign(statementsOver(pool, { isPool: true }), { close: () => pool.end() })
}

function readerUrl(url: string): string {
  const reading = new URL(url)
  reading.username = readerOf(reading.username)
  return reading.href
}

/** Asks for no settings of the session: they are the role's, so that they hold behind a pooler too. */
function openPool(
  config: Pick<DatabaseConfig, 'DATABASE_URL' | 'DATABASE_CA_FILE'>,
  {
    program,
    purpose,
    max,
  }: {
    readonly program: string
    /** Tells the pools of a process apart where they are measured. */
    readonly purpose: 'write' | 'read' | 'team'
    readonly max: number
  },
): Pool {
  const pool = new Pool({
    connectionString: verifiedUrl(config.DATABASE_URL, config.DATABASE_CA_FILE),
    max,
    application_name: program,
    connectionTimeoutMillis: limitsMs.connection,
    keepAlive: true,
    // Statements that do not wait for each other's result are sent together.
    pipeline: true,
  } as PoolConfig)
  // Whoever uses a connection gets its error when it breaks. Without this listener that error would also end the
  // process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  endSilentConnections(pool)
  measurePool(pool, purpose)
  return pool
}

/** Reads over one connection that the caller owns, for example one whose transaction keeps a snapshot. */
export const readOver = (connection: Queryable, vault: Vault): ReadDb =>
  handleOver(connection, { managers: noEntities, vault }, { isPool: false })

interface Tools {
  readonly managers: () => Promise<EntityManagers>
  readonly vault: Vault
}

const overPool = (pool: Pool, { intercept, ...tools }: Tools & { readonly intercept?: Interceptor | undefined }): Db =>
  handleOver(intercepted(pool as Queryable, intercept), tools, { isPool: true })

/** The role of a query may not write. That it tried is a fault of ours, and says nothing of what its server may do. */
const sayItWrote: Interceptor = (_step, run) =>
  run().catch((error: Error) => {
    throw isOfReplica(error) ? new Error(`a query tried to write: ${error.message}`) : error
  })

/** The connection with an interceptor around each statement; without an interceptor, the connection as it is. */
function intercepted(connection: Queryable, intercept: Interceptor | undefined, transaction?: object): Queryable {
  if (intercept === undefined) return connection
  return {
    query: (query: { readonly text: string }) =>
      intercept({ kind: 'statement', name: query.text, ...(transaction && { transaction }) }, () =>
        connection.query(query),
      ),
  } as unknown as Queryable
}

const statementsOver =
  (connection: Queryable, { isPool }: { readonly isPool: boolean }): Statements =>
  <Row extends object>(text: TemplateStringsArray, ...values: readonly unknown[]) => {
    const run = () => execute<Row>(connection, text, values)
    // Over a pool a statement is a transaction of its own.
    return isPool ? retrying(run) : run()
  }

/** The handle over a pool or a connection. Its entity manager is made on first use. */
function handleOver(connection: Queryable, { managers, vault }: Tools, { isPool }: { readonly isPool: boolean }): Db {
  let manager: Promise<EntityManager> | undefined
  const newManager = async () => (await managers()).managerOver(connection)
  const db = statementsOver(connection, { isPool })
  const write = async (statements: readonly Fragment[]) => {
    await Promise.all(statements.map((statement) => db`${statement}`))
  }
  return Object.assign(db, {
    mayLock: true as const,
    mayWrite: true as const,
    vault,
    lock: write,
    write,
    em() {
      // Outside a transaction each use gets a new entity manager, so that it reads what the database holds now.
      if (isPool) return newManager()
      manager ??= newManager()
      return manager
    },
    flush: async () => {
      await (await manager)?.flush()
    },
  })
}

/** Runs when the lane has room. */
const inLane = <T>(lane: Lane<() => Promise<void>>, run: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    lane.add([() => run().then(resolve, reject)])
  })

/** Runs a transaction again when it failed, without any effect, because of its moment or its connection. */
const retrying = <T>(run: () => Promise<T>): Promise<T> => retry(run, { while: isRetryable, attemptsMax })

interface Transactions extends Tools {
  readonly pool: Pool
  readonly intercept: Interceptor | undefined
}

/** What a transaction has come to. */
interface Course {
  ended: boolean
  firstFault: unknown
}

/** `run` may leave statements behind, such as the rest of a Promise.all. The connection's next user must not get them. */
const untilEnded = (client: PoolClient, course: Course) =>
  ({
    async query(...query: Parameters<Queryable['query']>) {
      if (course.ended) throw new Error('the transaction has ended')
      try {
        return await client.query(...query)
      } catch (error) {
        course.firstFault ??= error
        throw error
      }
    },
  }) as unknown as Queryable

async function attemptTransaction<T>(
  { pool, intercept, ...tools }: Transactions,
  run: (db: Transaction) => Promise<T>,
  { lockTimeoutMs, readsFirst = false }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect()
  const socket = socketOf(client)
  const course: Course = { ended: false, firstFault: undefined }
  let broken: Error | undefined
  let finishing: Promise<void> | undefined
  let notBegun: unknown
  try {
    // What is sent at once leaves in one write, and wakes PostgreSQL up once.
    socket.cork()
    process.nextTick(() => socket.uncork())
    const begun = client.query(begin(lockTimeoutMs))
    if (!readsFirst) await begun
    begun.catch((fault) => {
      course.ended = true
      notBegun = fault
    })
    const db = handleOver(intercepted(untilEnded(client, course), intercept, client), tools, { isPool: false })
    const finish = async (waits?: boolean) => {
      course.ended = true
      const sent = () => commit(client, course, waits)
      await (intercept?.({ kind: 'commit', name: 'commit', transaction: client }, sent) ?? sent())
    }
    const commitWith = async <W>(write: () => Promise<W>, waits?: boolean): Promise<W> => {
      await begun
      if (intercept === undefined) socket.cork()
      const writing = Promise.try(write)
      writing.catch((fault) => {
        course.firstFault ??= fault
      })
      // What fails before it is sent is known by the next tick, and an interceptor holds statements up.
      await (intercept === undefined ? new Promise<void>(process.nextTick) : writing)
      finishing = course.firstFault === undefined ? finish(waits) : Promise.reject(course.firstFault)
      if (intercept === undefined) socket.uncork()
      // Because of a statement that failed COMMIT fails too: that statement's fault is the one to tell.
      finishing.catch(() => {})
      return writing
    }
    const result = await run(Object.assign(db, { commitWith }))
    await begun
    if (finishing === undefined) await db.flush()
    await (finishing ?? finish())
    return result
  } catch (error) {
    course.ended = true
    // When one of several statements that were sent together fails, all after it fail because of it. Report the first.
    const cause = notBegun ?? (isInFailedTransaction(error) ? (course.firstFault ?? error) : error)
    if (isStaleConnection(cause)) broken = cause as Error
    await client.query('rollback').catch((fault: Error) => {
      broken = fault
    })
    throw cause
  } finally {
    client.release(broken)
  }
}

const begin = (lockTimeoutMs: number | undefined) =>
  lockTimeoutMs === undefined ? 'begin' : `begin; set local lock_timeout = ${lockTimeoutMs}`

/** After a failed statement PostgreSQL takes COMMIT for a rollback, and reports success. */
async function commit(client: PoolClient, course: Course, waits = true): Promise<void> {
  const sent = await client.query(waits ? 'commit' : 'set local synchronous_commit = off; commit')
  // Of several statements the driver returns a list.
  if ([sent].flat().at(-1)?.command === 'COMMIT') return
  throw new Error('the transaction was rolled back: one of its statements failed', { cause: course.firstFault })
}

/** The settings of a program that connects to a database of its own, by the names of their environment variables. */
export const databaseSettings = {
  DATABASE_URL: secret({ description: "postgres:// URL with the service's own role", password: 'DATABASE_PASSWORD' }),
  DATABASE_PASSWORD: Type.Optional(secret()),
  /** PEM of the authority behind PostgreSQL's certificate; when set, the connection is TLS and the certificate is verified. */
  DATABASE_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
  DATABASE_POOL_MAX: Type.Integer({ minimum: 1, maximum: 200, default: 10 }),
}
export type DatabaseConfig = Omit<Static<TObject<typeof databaseSettings>>, 'DATABASE_PASSWORD'>
