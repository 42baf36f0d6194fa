import { type ChangeSource, fromMinorUnits, type PlayerStatus } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import { type ServiceContext, sql, type Tools } from '@backoffice/service-runtime'
import { limitNow, type PlayerRecord } from './player.ts'
import { keysOf, lockPlayers, readPlayers, scopeOf, seePlayers } from './records.ts'

type Telling = Pick<Tools['execute'], 'db' | 'now' | 'emit'>

/** What caused a change, and when. */
interface Change {
  readonly source: ChangeSource
  readonly changedAt: Date
}

/**
 * Tells operators of players, whose rows are locked, that are seen with another status than was told last: once, since what
 * is told is written down in the same transaction.
 */
export async function tellStatus(
  { db, emit }: Telling,
  players: readonly (Change & { readonly player: PlayerRecord })[],
): Promise<void> {
  const seen = await seePlayers(
    db,
    players.map(({ player }) => player),
  )
  const rows = seen.map(({ id, status, statusSet }) => ({ id, status, statusSet }))
  const told = await db<{ id: string; previousStatus: PlayerStatus; version: number }>`
    with changed as materialized (
      select s.id, s.status, coalesce(t.status, s.status_set) as previous_status
      from ${sql.unnest('s', rows, 'id text, status text, status_set text')} left join told_status t on t.player_id = s.id
      where s.status <> coalesce(t.status, s.status_set)
    ), telling as (
      insert into told_status (player_id, status) select id, status from changed
      on conflict (player_id) do update set status = excluded.status
    )
    update player p set kyc_version = p.kyc_version + 1 from changed c where p.id = c.id
    returning p.id, c.previous_status, p.kyc_version as version
  `
  const byId = new Map(told.map((one) => [one.id, one]))
  for (const [index, { id, status }] of seen.entries()) {
    const [change, one] = [players[index], byId.get(id)]
    if (change === undefined || one === undefined) continue
    const { player, source } = change
    const { previousStatus, version } = one
    const changedAt = change.changedAt.toISOString()
    const data = { playerId: id, status, previousStatus, changedAt, source, version }
    emit({ kind: 'player.status_changed', aggregate: id, scope: scopeOf(player), data })
  }
}

const amountOf = (limit: bigint | null) => (limit === null ? null : fromMinorUnits(limit))

/** Tells the operator of a player, whose row is locked, that another limit holds, or will. */
export async function tellLimit(
  { db, now, emit }: Telling,
  before: PlayerRecord,
  player: PlayerRecord,
  { source, changedAt }: Change,
): Promise<void> {
  const { id, currency, pendingLimit, pendingLimitFrom } = player
  const previous = limitNow(before, now)
  const isPending = pendingLimitFrom !== null
  const next = isPending ? pendingLimit : player.dailyDepositLimit
  const waited = before.pendingLimitFrom !== null && before.pendingLimitFrom > now
  if (next === previous && !isPending && !waited) return
  const [row] = await db<{ version: number }>`
    update player set kyc_version = kyc_version + 1 where id = ${id} returning kyc_version as version
  `
  const data = {
    ...{ playerId: id, currency, dailyDepositLimit: amountOf(next), previousDailyDepositLimit: amountOf(previous) },
    ...{ effectiveAt: (pendingLimitFrom ?? now).toISOString(), changedAt: changedAt.toISOString() },
    ...{ source, version: row?.version ?? 0 },
  }
  emit({ kind: 'player.limit_changed', aggregate: id, scope: scopeOf(player), data })
}

interface Due {
  readonly playerId: string
  readonly changedAt: Date
  readonly dueAt: Date
}

/**
 * What makes a player due: the end of an exclusion, its registration while one ran, or what the team has done. An exclusion
 * may have ended since that.
 */
function changeOf(due: Pick<Due, 'changedAt' | 'dueAt'>, player: PlayerRecord | undefined, now: Date): Change {
  const { changedAt, dueAt } = due
  const end = player?.selfExcludedUntil ?? null
  if (end !== null && end >= changedAt && end <= now) return { source: 'expiry', changedAt: end }
  return { source: changedAt.getTime() === dueAt.getTime() ? 'operator' : 'team', changedAt }
}

const dueMax = 100
/** One person may have very many accounts, in a sandbox above all. */
const toldMax = 1_000

/**
 * Looks at players that are due, and at the others of their persons, and tells of those that are seen otherwise by now: what
 * an exclusion of another player changes, and what ends with its time. Whoever reads a player sees that at once.
 * @returns whether there is more
 */
export function sweepStatuses({ transact }: Pick<ServiceContext, 'transact'>): Promise<boolean> {
  return transact(async (tools) => {
    const { db } = tools
    const due = await db<Due>`
      select player_id, changed_at, due_at from told_status where due_at <= now() order by due_at limit ${dueMax}
    `
    if (due.length === 0) return false
    if (await tellOfDue(tools, due)) return true
    const dueIds = due.map(({ playerId }) => playerId)
    // An exclusion that runs is looked at when it ends. What has changed since is due later.
    await db`
      update told_status t set (changed_at, due_at) = (
        select p.self_excluded_until, p.self_excluded_until from (values (true)) one
        left join player p on p.id = t.player_id and p.self_excluded_until > now()
      )
      where t.player_id = any(${dueIds}::text[]) and t.due_at <= now()
    `
    return due.length === dueMax
  })
}

/**
 * Tells of the players that are due, and of the others of their persons, whose rows are locked then.
 * @returns whether there is more
 */
async function tellOfDue({ db, now, emit }: Telling, due: readonly Due[]): Promise<boolean> {
  const ofAnyBrand = (playerId: string) => ({ playerId, brandId: null })
  const seen = await seePlayers(
    db,
    await readPlayers(
      db,
      due.map(({ playerId }) => ofAnyBrand(playerId)),
    ),
  )
  const causes = new Map(due.map((one, index) => [one.playerId, changeOf(one, seen[index], now)]))
  const persons = seen.flatMap((player) => {
    // Who registers changes nothing for the others.
    if (player === undefined || causes.get(player.id)?.source === 'operator') return []
    return keysOf(db, player).map((key) => ({ ...key, excluded: player.excludedBy !== null, dueId: player.id }))
  })
  const others = await db<{ id: string; dueId: string }>`
    select p.id, asked.due_id
    from ${sql.unnest('asked', persons, 'brand_id text, cpf_digest text, excluded bool, due_id text')}
    join player p using (brand_id, cpf_digest) left join told_status t on t.player_id = p.id
    where p.id <> asked.due_id
      and coalesce(t.status, p.status) <> case when asked.excluded then 'autoexcluido' else p.status end
    limit ${toldMax}
  `
  const changes = new Map([...others.map(({ id, dueId }) => [id, causes.get(dueId)] as const), ...causes])
  const locked = await lockPlayers(db, [...changes.keys()].map(ofAnyBrand))
  const looked = locked.flatMap((player) => {
    const change = player && changes.get(player.id)
    return player === undefined || change === undefined ? [] : [{ player, ...change }]
  })
  await tellStatus({ db, now, emit }, looked)
  return others.length === toldMax
}

/**
 * Tells what is still to be told because of a player whose row is not locked yet: once it is anonymised, nobody knows any more
 * who else is the person.
 */
export async function tellBeforeAnonymising(tools: Telling, playerId: string): Promise<void> {
  const due = await tools.db<Due>`
    select player_id, changed_at, due_at from told_status where player_id = ${playerId} and due_at is not null
  `
  while (due.length > 0 && (await tellOfDue(tools, due))) {}
}

/** Sweeps every `everyMs`, and again at once while there is more. */
export const statusSweeper = (context: ServiceContext, everyMs: number): Loop =>
  new Loop({
    name: 'telling of statuses',
    log: context.log,
    everyMs,
    firstAfterMs: everyMs,
    run: () => sweepStatuses(context),
  })
