import { serviceNames } from '@backoffice/contracts'
import { eventually, keptEvents } from '@backoffice/test-kit'
import type { World } from './world.ts'

/** What is in all tables: rows of each, rows of each status, and the players' money. */
export type Books = ReadonlyMap<string, number>

/** Not the effect of a command. */
const unrelated = new Set([
  ...serviceNames.map((name) => `${name}.stream_seen`),
  // Written before a command begins, once for each login.
  ...serviceNames.map((name) => `${name}.team_session`),
  ...[
    'gateway.rate_window',
    'gateway.daily_use',
    'gateway.homologation_proof',
    'gateway.refused_request',
    'gateway.refused_today',
    'wallet.system_checkpoint',
  ],
  // Who sends a delivery now.
  'webhooks.lease',
  // A reconciliation may be due at any moment.
  ...['reconciliation', 'checkpoint', 'account_checkpoint', 'moment'].map((table) => `reconciler.${table}`),
])

const byStatus = [
  ['payments.deposit', 'status'],
  ['payments.withdrawal', 'status'],
  ['wallet.hold', 'state'],
  ['webhooks.delivery', 'state'],
] as const

export class Bookkeeper {
  readonly #world: World
  readonly #query: string

  private constructor(world: World, query: string) {
    this.#world = world
    this.#query = query
  }

  static async of(world: World): Promise<Bookkeeper> {
    const { rows } = await world.bed.sql('admin').query(
      `select table_schema || '.' || table_name as name from information_schema.tables
      where table_schema = any($1) and table_type = 'BASE TABLE'
        and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)
      order by 1`,
      [serviceNames],
    )
    const tables = rows.map(({ name }) => name as string).filter((name) => !unrelated.has(name))
    const query = [
      ...tables.map((name) => `select '${name}' as what, count(*) as n from ${name}`),
      ...byStatus.map(([name, column]) => `select '${name} ' || ${column}, count(*) from ${name} group by ${column}`),
      `select 'posted', coalesce(sum(posted), 0) from wallet.account where kind = 'player'`,
      `select 'held', coalesce(sum(held), 0) from wallet.account where kind = 'player'`,
      `select 'posted to others', coalesce(sum(amount), 0) from wallet.entry where seq is null`,
    ]
    return new Bookkeeper(world, query.join('\nunion all '))
  }

  async read(): Promise<Books> {
    const { rows } = await this.#world.bed.sql('admin').query({ name: 'books', text: this.#query })
    return new Map(rows.map(({ what, n }) => [what as string, Number(n)]))
  }
}

/** What changed, as lines to compare. */
export function changes(before: Books, after: Books): Record<string, number> {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  const changed = names.map((name) => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)] as const)
  return Object.fromEntries(changed.filter(([, by]) => by !== 0))
}

const unfinished = [
  ...serviceNames.map((name) => `select '${name}: unsent ' || name as what from ${name}.outbox`),
  ...serviceNames.map((name) => `select '${name}: set aside ' || fault from ${name}.set_aside_message`),
  `select 'a claim without a reply' from gateway.claim where status is null`,
  `select 'an intent' from payments.withdrawal where status = 'intent'`,
  `select 'a delivery to come' from webhooks.delivery where state = 'pending'`,
  // An event that is published and not yet heard is nowhere but in its outbox.
  ...(['players', 'payments'] as const).map(
    (name) => `select 'an event unheard' from ${keptEvents(name)}
      where not exists (select from webhooks.inbox where event_id = id)`,
  ),
].join('\nunion all ')

/** Waits until nothing is left to do. @throws what is stuck */
export async function settled(world: World): Promise<void> {
  await eventually(async () => {
    const { rows } = await world.bed.sql('admin').query({ name: 'unfinished', text: unfinished })
    const stuck = rows.map(({ what }) => what)
    if (stuck.length > 0) throw new Error(`stuck: ${stuck.join(', ')}`)
  })
}

const commandsOwed = serviceNames
  .map((name) => `select name from ${name}.outbox where kind = 'command'`)
  .join('\nunion all ')

/** What one service still has to ask of another. Whoever has his reply must find all of it done. */
export async function owed(world: World): Promise<string[]> {
  const { rows } = await world.bed.sql('admin').query({ name: 'owed', text: commandsOwed })
  return rows.map(({ name }) => name)
}
