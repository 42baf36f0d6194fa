import { fromMinorUnits, operations, toMinorUnits } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import { objectOf } from '@backoffice/team-access/identity'
import type { KeyedFound, Kind } from './check.ts'
import { environmentOf } from './environments.ts'
import { callOf, type Find, findSet, judge, readCalls, type Setting, type SettingCall } from './setting-calls.ts'
import { type CalledFor, callsIn, findUnproven, isJudged, type Judging } from './signed-calls.ts'
import { overlapMs } from './sources.ts'

// Providers of games: what the team has set of them, what it let them pay, and the rounds that it ended.

const { setProviderGrant } = operations.gateway
const { setWinLimit, releaseWin, voidRound, endRound } = operations.wallet
const { setGameProvider } = operations.players

const production = sql`'production'`
/** Keys, as they are joined. */
const these = (keys: readonly string[]) => sql`unnest(${keys}::text[]) as k (key)`
/** A row whose key begins with a provider and a brand, which an index finds. Their ids have no slash. */
const isPair = (row: Fragment) => sql`${row}.id = k.key and ${row}.provider_id = split_part(k.key, '/', 1)
  and ${row}.brand_id = split_part(k.key, '/', 2)`

/** Two people let a provider into a brand of production; one may stop it. */
const findGrants = findSet({
  ...{ shown: 'operators', operation: setProviderGrant, name: 'grant' },
  read: async (db, keys) => {
    const rows = await db<{ id: string; brandId: string; providerId: string; suspended: boolean }>`
      select g.* from ${these(keys)} join gateway.reconcilable_provider_brand g on ${isPair(sql`g`)}
      where g.environment = ${production}
    `
    return rows.map(({ id, brandId, providerId, suspended }) => {
      return { id, brandId, says: { providerId, brandId }, value: suspended ? 'suspended' : 'active' }
    })
  },
  said: ({ input }) => input.grant,
  takesTwo: ({ input }) => input.grant === 'active',
})

/** Whose sessions a provider stakes in: of those who were let into a brand of production. */
const findGames = findSet({
  ...{ shown: 'settings', operation: setGameProvider, name: 'provider' },
  read: async (db, keys) => {
    const rows = await db<{ id: string; providerId: string }>`
      select g.* from ${these(keys)} join players.reconcilable_game_provider g on g.id = k.key
      where exists (
        select from gateway.reconcilable_provider_brand b where b.provider_id = g.provider_id and b.environment = ${production}
      )
    `
    return rows.map(({ id, providerId }) => ({ id, brandId: null, says: { gameId: id }, value: providerId }))
  },
  said: ({ input }) => input.providerId,
})

const amountOf = (value: unknown): bigint => (typeof value === 'string' ? toMinorUnits(value) : 0n)
const isRaise = ({ input }: SettingCall) => amountOf(input.maxWin) > amountOf(objectOf(input.seen).maxWin)
/** What one win may be. Two people raise it in production. */
const findLimits = findSet({
  ...{ shown: 'play', operation: setWinLimit, name: 'maxWin' },
  read: async (db, keys) => {
    const rows = await db<{ id: string; brandId: string; providerId: string; maxWin: bigint }>`
      select l.* from ${these(keys)} join wallet.reconcilable_win_limit l on ${isPair(sql`l`)}
      where ${environmentOf(sql`l.brand_id`)} = ${production}
    `
    return rows.map(({ id, brandId, providerId, maxWin }) => {
      return { id, brandId, says: { providerId, brandId }, value: fromMinorUnits(maxWin) }
    })
  },
  said: ({ input }) => fromMinorUnits(amountOf(input.maxWin)),
  seen: ({ maxWin }) => maxWin,
  takesTwo: isRaise,
})

/** A win above the limit is paid when two people have seen whose it is and how much. */
const findReleases = findSet({
  ...{ shown: 'play', operation: releaseWin, name: 'released' },
  read: async (db, keys) => {
    const rows = await db<{
      id: string
      brandId: string
      providerId: string
      transactionId: string
      ownerId: string | null
      amount: bigint
      releasedAt: Date
    }>`
      select w.*, a.owner_id from ${these(keys)} join wallet.reconcilable_held_win w on ${isPair(sql`w`)}
      left join wallet.account a on a.id = w.account_id
      where ${environmentOf(sql`w.brand_id`)} = ${production}
    `
    return rows.map(({ id, brandId, providerId, transactionId, ownerId, amount, releasedAt }) => ({
      ...{ id, brandId, says: { providerId, brandId, transactionId }, at: releasedAt },
      value: `${fromMinorUnits(amount)} of ${ownerId}`,
    }))
  },
  said: ({ input }) => {
    const { amount, playerId } = objectOf(input.seen)
    return `${amount} of ${playerId}`
  },
  takesTwo: () => true,
})

/**
 * The least limit that wins ever had, of each provider in each brand that has won among some plays: what is not above it needs
 * no look. What is no amount counts for none.
 * @param leastMaxWin the least that held where nothing was set, in minor units
 */
export const leastLimits = (plays: Fragment, leastMaxWin: bigint) => sql`
  select w.provider_id, w.brand_id, least(${leastMaxWin}::bigint, min(
    case when c.max_win ~ '^\\d{1,13}(\\.\\d{1,2})?$' then c.max_win::numeric * 100 end)) as amount
  from (select distinct provider_id, brand_id from ${plays} where kind = 'win') w
  left join lateral (
    select reconciler.json_text(input, 'maxWin') as max_win from ${callsIn('play')}
    where subject = w.provider_id and operation = ${setWinLimit.id} and outcome = 'done'
      and reconciler.json_text(input, 'brandId') = w.brand_id
  ) c on true
  group by 1, 2
`

const overlap = sql.fixed(`interval '${overlapMs} ms'`)
const aboveLimit =
  'A win above the limit of its provider was paid, and two people have neither released it nor raised that.'

/**
 * A win above the limit of its time was released before it was paid, or a signed call had raised the limit. The times of a
 * win and of a call are of different clocks: a limit may have held until another had stood for some minutes.
 */
async function findWins(db: ReadDb, keys: readonly string[], run: Judging): Promise<KeyedFound[]> {
  const wins = await db<{ id: string; brandId: string; providerId: string; amount: bigint; createdAt: Date }>`
    with won as (
      select p.* from ${these(keys)} join wallet.play p on p.id = k.key where p.kind = 'win' and p.outcome = 'posted'
    )
    select p.id, p.brand_id, p.provider_id, p.amount, p.created_at from won p
    join (${leastLimits(sql`won`, run.team.leastMaxWin)}) l on (l.provider_id, l.brand_id) = (p.provider_id, p.brand_id)
    where p.amount > l.amount and ${environmentOf(sql`p.brand_id`)} = ${production} and not exists (
      select from wallet.reconcilable_held_win w
      where (w.provider_id, w.brand_id, w.transaction_id, w.account_id, w.amount)
        = (p.provider_id, p.brand_id, p.transaction_id, p.account_id, p.amount)
        and w.released_at <= p.created_at + ${overlap}
    )
  `
  const judged = wins.filter(({ id, createdAt }) => isJudged(run, id, createdAt))
  const callsAbout = await readCalls(db, 'play', [...new Set(judged.map(({ providerId }) => providerId))])
  const found: KeyedFound[] = []
  const raised: CalledFor[] = []
  for (const { id: key, brandId, providerId, amount, createdAt } of judged) {
    const at = createdAt.getTime()
    const limits = callsAbout(providerId).filter(
      ({ operation, input }) => operation === setWinLimit.id && input.brandId === brandId,
    )
    const last = limits.findLast((call) => call.at.getTime() < at - overlapMs)
    if (last === undefined && run.team.heldAt(createdAt).maxWin >= amount) continue
    const raises = limits.filter(
      ({ at: setAt, input }) =>
        setAt.getTime() >= (last?.at.getTime() ?? 0) - overlapMs &&
        setAt.getTime() <= at + overlapMs &&
        amountOf(input.maxWin) >= amount,
    )
    const of = { key, brandId, subject: key }
    for (const call of raises) {
      const effect = { operation: setWinLimit, says: { providerId, brandId }, takesTwo: isRaise(call) }
      raised.push({ ...of, ...effect, at: call.at, auditId: call.auditId })
    }
    const expected = 'a win within its limit, or one that two people have released'
    const actual = `${fromMinorUnits(amount)} at ${createdAt.toISOString()}`
    if (raises.length === 0)
      found.push({ key, found: { brandId, subject: key, expected, actual, explanation: aboveLimit } })
  }
  return [...found, ...(await findUnproven(db, 'play', raised, { run, explanation: aboveLimit }))]
}

/** Rounds that the team ended: by two people, or by a reversal of the last stake, which the check of corrections judges. */
async function findEnds(db: ReadDb, keys: readonly string[], run: Judging): Promise<KeyedFound[]> {
  const rows = await db<{ id: string; brandId: string; closedAt: Date; state: string }>`
    select r.id, r.brand_id, r.closed_at, r.state from ${these(keys)} join wallet.round r on r.id = k.key
    where r.closed_by = 'team' and ${environmentOf(sql`r.brand_id`)} = ${production} and not exists (
      select from wallet.play p join wallet.transfer t on t.brand_id = p.brand_id and t.reference = p.id
      join wallet.transfer x on x.reverses = t.id and x.type = 'REVERSAL' and x.outcome = 'posted'
      join wallet.entry e on e.transfer_id = x.id and e.account_id = r.account_id and e.seq = r.closed_seq
      where p.round_id = r.id and p.kind = 'bet' and r.state = 'void'
    )
  `
  const roundIds = rows.map(({ id }) => id)
  const of = await readCalls(db, 'play', roundIds)
  const settings = rows.map(({ id, brandId, closedAt, state }): Setting => {
    const operation = state === 'void' ? voidRound : endRound
    const by = callOf(of(id).find((call) => call.operation === operation.id))
    const effect = { operation, says: { roundId: id }, takesTwo: true }
    const is = { is: state, called: state, isMade: true, at: closedAt, by }
    return { key: id, brandId, subject: id, name: 'end', ...is, effectOf: () => effect }
  })
  return judge(db, 'play', settings, run)
}

/** By what they are about. */
export const providerSettings = {
  providerBrand: findGrants,
  gameProvider: findGames,
  winLimit: findLimits,
  heldWin: findReleases,
  play: findWins,
  round: findEnds,
} satisfies Partial<Record<Kind, Find>>
