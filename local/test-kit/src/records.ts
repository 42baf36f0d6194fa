import { randomInt, randomUUID } from 'node:crypto'
import { apiVersion, type EventMessage, events, isCpf, type Scope, type ServiceName } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type pg from 'pg'
import { eventually } from './started.ts'

/** A valid CPF, digits only, that no other test uses: players who share one are the same person. */
export function newCpf(): string {
  const digits = String(randomInt(1e9)).padStart(9, '0')
  const checks = Array.from({ length: 100 }, (_, check) => `${digits}${String(check).padStart(2, '0')}`)
  // Nine times the same digit gives a number that is never issued.
  return checks.find(isCpf) ?? newCpf()
}

/** A valid registration of a person of its own. */
export const newPlayer = (overrides: Record<string, string> = {}) => ({
  externalId: `user-${randomUUID()}`,
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: newCpf(),
  birthDate: '1990-05-17',
  ...overrides,
})

/** A confirmed deposit's event, as payments would emit it, without the deposit. */
export function depositConfirmed({ operatorId, brandId, environment }: Scope): EventMessage<'deposit.confirmed'> {
  return {
    id: newId('evt'),
    type: 'deposit.confirmed',
    apiVersion,
    environment,
    operatorId,
    brandId,
    createdAt: new Date().toISOString(),
    data: events['deposit.confirmed'].example as EventMessage<'deposit.confirmed'>['data'],
  }
}

/** All events of a service as a table of a statement: those that wait in its outbox and those that were published. */
export const keptEvents = (service: ServiceName): string => `(
  select id, message from ${service}.outbox where kind = 'event'
  union all
  select id, message from ${service}.published_event
) as kept`

// biome-ignore lint/suspicious/noExplicitAny: a test knows what its events carry
type AnyMessage = any

/** The messages of all events of a service, oldest first, as far as they are not sealed. */
export async function keptMessages(
  client: Pick<pg.Pool, 'query'>,
  service: ServiceName,
): Promise<{ readonly id: string; readonly message: AnyMessage }[]> {
  return (await client.query(`select id, message from ${keptEvents(service)} order by id`)).rows
}

/**
 * Holds a transaction open, as somebody else would: it keeps what it has locked or written until it ends.
 * @param statement the last of what it did
 */
export async function holdOpen(admin: pg.Pool, statement: string, values: unknown[] = []) {
  const client = await admin.connect()
  await client.query('begin')
  await client.query(statement, values)
  const end = async (how: 'commit' | 'rollback') => {
    await client.query(how)
    client.release()
  }
  return {
    isAwaited: (who?: Sessions) => lockIsAwaited(admin, who),
    commit: () => end('commit'),
    rollback: () => end('rollback'),
  }
}

interface Sessions {
  readonly role?: string
  /** So many, and no more; else any. */
  readonly count?: number
}

/** Resolves once sessions of the database wait for a lock. Within a transaction PostgreSQL shows the activity of its first look. */
export const lockIsAwaited = (admin: pg.Pool, { role, count }: Sessions = {}) =>
  eventually(async () => {
    const { rowCount } = await admin.query(
      `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and usename = coalesce($1, usename)`,
      [role],
    )
    return count === undefined ? rowCount !== 0 : rowCount === count
  })
