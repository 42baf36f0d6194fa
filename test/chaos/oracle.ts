import { fromMinorUnits, serviceNames } from '@backoffice/contracts'
import { patiently } from '@backoffice/process'
import { eventually, reconcile } from '@backoffice/test-kit'
import { linearize, type Timed } from './linearizability.ts'
import type { Operator } from './load.ts'
import { type Answer, type Call, isAbout, type PlayerOperation, walletModel, withdrawalModel } from './models.ts'
import type { Player } from './player.ts'
import type { Judged } from './system.ts'

/**
 * What the histories of a wallet and of each of its withdrawals do not show, because each is judged by itself: whether
 * the two agree at the end, and which events there were.
 */
export interface Book {
  readonly problems: readonly string[]
  /** Each event that the operator must have heard of, as `eventText` writes it. */
  readonly events: readonly string[]
}

const open = ['under_review', 'approved']
const passedThrough: Readonly<Record<string, readonly string[]>> = {
  under_review: [],
  approved: ['approved'],
  paid: ['approved', 'paid'],
  rejected: ['rejected'],
  cancelled: ['cancelled'],
}

/** @param player whose wallet, statement and withdrawals were read when nothing happened any more */
export function closeBook(
  player: Pick<Player, 'id' | 'deposits' | 'withdrawals'> & { readonly history: readonly PlayerOperation[] },
): Book {
  const { history, deposits, withdrawals } = player
  const problems: string[] = []
  const complain = (text: string) => void problems.push(text)
  const wallet = lastAnswer(history, 'readWallet', 'wallet')
  const statement = lastAnswer(history, 'readStatement', 'statement')
  if (wallet === undefined || statement === undefined) {
    return { problems: ['the wallet could not be read at the end'], events: [] }
  }

  const statuses = finalStatuses(history)
  const entered = new Set(statement.items.map(({ referenceId }) => referenceId))
  for (const [id, status] of statuses)
    if ((status === 'paid') !== entered.has(id)) complain(`${id} is ${status}, and the statement says otherwise`)

  const reserved = [...statuses]
    .filter(([, status]) => open.includes(status))
    .reduce((sum, [id]) => sum + (withdrawals.get(id) ?? 0n), 0n)
  const possible = subsetSums(unansweredRequests(history)).map((besides) => wallet.available - reserved - besides)
  if (!possible.includes(wallet.withdrawable)) {
    complain(`withdrawable is ${fromMinorUnits(wallet.withdrawable)}, not ${possible.map(fromMinorUnits).join(' or ')}`)
  }

  const confirmed = [...entered].filter((id) => deposits.has(id))
  return {
    problems,
    events: [
      `kyc.status_changed ${player.id} aprovado`,
      ...confirmed.map((id) => `deposit.confirmed ${id} confirmed`),
      ...[...statuses].flatMap(([id, status]) =>
        (passedThrough[status] ?? []).map((passed) => `withdrawal.status_changed ${id} ${passed}`),
      ),
    ],
  }
}

/** Undefined when the last read was not answered. */
function lastAnswer<Kind extends Answer['kind']>(
  history: readonly PlayerOperation[],
  read: Call['kind'],
  kind: Kind,
): Extract<Answer, { readonly kind: Kind }> | undefined {
  const answer = history.findLast(({ call }) => call.kind === read)?.answer
  return answer?.kind === kind ? (answer as Extract<Answer, { readonly kind: Kind }>) : undefined
}

export const eventText = ({ type, data }: { type: string; data: Readonly<Record<string, unknown>> }): string =>
  `${type} ${data.id ?? data.playerId} ${data.status ?? data.kycStatus ?? data.dailyDepositLimit}`

/** Of the withdrawals, by their last read. */
function finalStatuses(history: readonly PlayerOperation[]): ReadonlyMap<string, string> {
  const statuses = new Map<string, string>()
  for (const { call, answer } of history) {
    if (call.kind === 'readWithdrawal' && answer?.kind === 'record') statuses.set(answer.id, answer.status)
  }
  return statuses
}

/** Amounts of the requests of which nobody knows whether they were accepted. */
export const unansweredRequests = (history: readonly PlayerOperation[]): readonly bigint[] =>
  history.flatMap(({ call, answer }) =>
    call.kind === 'requestWithdrawal' && answer === undefined ? [call.amount] : [],
  )

function subsetSums(amounts: readonly bigint[]): readonly bigint[] {
  const sums = [0n]
  for (const amount of amounts) sums.push(...sums.map((sum) => sum + amount))
  return sums
}

/** Something that must not be so. */
export interface Problem {
  /** Where it concerns one. */
  readonly player: Player | undefined
  readonly text: string
}

/**
 * How long after the last fault something may be unfinished. An outbox row that has failed often waits a minute for its
 * next attempt, which then needs a moment.
 */
export const settledWithinMs = patiently(65_000)

/** Ends every lease, as if its time had passed. A lease only says who should work; ending it early does no harm. */
export async function endLeases({ sql }: Pick<Judged, 'sql'>): Promise<void> {
  const statements = [
    ...serviceNames.map((name) => `update ${name}.outbox set leased_until = null where leased_until is not null`),
    'update webhooks.lease set leased_until = leased_at',
    'update gateway.claim set leased_until = clock_timestamp() where leased_until > clock_timestamp()',
  ]
  for (const statement of statements) await eventually(() => sql.query(statement))
}

/** What is still to be done, a line for each kind; none when everything is settled. */
async function unsettled({ sql }: Judged): Promise<string[]> {
  const counts = [
    ...serviceNames.map((name) => [`unsent rows of ${name}`, `${name}.outbox`]),
    ...serviceNames.map((name) => [`messages that ${name} has set aside`, `${name}.set_aside_message`]),
    ['intents', "payments.withdrawal where status = 'intent'"],
    ['deliveries that were not made', "webhooks.delivery where state <> 'delivered'"],
    ['claims under a lease', 'gateway.claim where status is null and leased_until > clock_timestamp()'],
    ['sessions in a transaction', "pg_stat_activity where state like 'idle in transaction%'"],
  ]
  const { rows } = await sql.query(
    counts.map(([what, from]) => `select '${what}' as what, count(*)::int as count from ${from}`).join(' union all '),
  )
  return rows.flatMap(({ what, count }) => (count === 0 ? [] : [`${count} ${what}`]))
}

/** Waits until nothing is left to do. */
export const untilSettled = (system: Judged): Promise<true> =>
  eventually(async () => {
    const left = await unsettled(system)
    if (left.length > 0) throw new Error(left.join(', '))
    return true
  })

/** Holds everything against what the clients were told. To be called when nothing happens any more. */
export async function judge(system: Judged, operators: readonly Operator[]): Promise<Problem[]> {
  const players = operators.flatMap((operator) => operator.players)
  const problems = players.flatMap((player) => [
    ...player.problems.map((text) => ({ player, text })),
    ...orderProblems(player),
  ])
  problems.push(...(await recordProblems(system, players)))
  for (const operator of operators) problems.push(...(await eventProblems(operator)))
  problems.push(...(await countProblems(system, operators)))
  problems.push(...(await limitProblems(system, operators)))
  problems.push(...(await reconciliationProblems(system)))
  for (const { part, how, wasReady, logTail } of system.replicas.flatMap(({ unplannedExits }) => unplannedExits)) {
    // While a backend is away a process may give up starting. It is started again.
    if (wasReady) problems.push(general(`${part} ended by itself (${how}):\n${logTail}`))
  }
  return problems
}

const general = (text: string): Problem => ({ player: undefined, text })

/** The histories of the wallet and of each withdrawal, held against a model that knows nothing of our code. */
function orderProblems(player: Player): Problem[] {
  // A read that nobody heard says nothing.
  const history = player.history.filter(({ call, answer }) => answer !== undefined || !call.kind.startsWith('read'))
  const ofWallet = history.filter(({ call }) => call.kind !== 'createDeposit' && call.kind !== 'readWithdrawal')
  return [
    ...problemsOf(player, 'the wallet', linearize(ofWallet, walletModel(ofWallet))),
    ...[...player.withdrawals.keys()].flatMap((id) =>
      problemsOf(player, id, linearize(history.filter(isAbout(id)), withdrawalModel(id))),
    ),
  ]
}

function problemsOf(
  player: Player,
  what: string,
  { verdict, order }: { readonly verdict: string; readonly order: readonly (PlayerOperation & Timed)[] },
): Problem[] {
  if (verdict === 'linearizable') return []
  return [
    { player, text: `the history of ${what} is ${verdict}: no order explains it beyond ${order.length} operations` },
  ]
}

/** Records that exist against records that clients were told of: each once, and none besides. */
async function recordProblems({ sql }: Judged, players: readonly Player[]): Promise<Problem[]> {
  const problems: Problem[] = []
  const registered = players.filter(({ isRegistered }) => isRegistered)
  const { rows } = await sql.query<{ player_id: string; id: string; amount: string; kind: string }>(`
    select player_id, id, amount, 'createDeposit' as kind from payments.deposit
    union all
    select player_id, id, amount, 'requestWithdrawal' from payments.withdrawal
    where status not in ('intent', 'refused', 'abandoned')
  `)
  const byPlayer = Map.groupBy(rows, ({ player_id }) => player_id)
  for (const player of registered) {
    const known = new Map([...player.deposits, ...player.withdrawals])
    const unheard = unansweredCreations(player)
    for (const { id, amount, kind } of byPlayer.get(player.id) ?? []) {
      if (known.delete(id)) continue
      const index = unheard.indexOf(`${kind} ${amount}`)
      if (index < 0) problems.push({ player, text: `${id} exists, and no client asked for it` })
      else unheard.splice(index, 1)
    }
    for (const id of known.keys()) problems.push({ player, text: `${id} was answered and does not exist` })
    problems.push(...closeBook(player).problems.map((text) => ({ player, text })))
  }
  return problems
}

async function countProblems({ sql }: Judged, operators: readonly Operator[]): Promise<Problem[]> {
  const registered = operators.flatMap(({ players }) => players).filter(({ isRegistered }) => isRegistered)
  const { rows } = await sql.query<{ count: number }>(`
    select count(*)::int as count from players.player p join gateway.brand b on b.id = p.brand_id
    where b.environment = 'sandbox'
  `)
  if (rows[0]?.count === registered.length) return []
  return [general(`${rows[0]?.count} players exist, and ${registered.length} were registered`)]
}

/** On no day of the brand was more deposited than the limit, and nothing was refused that the limit leaves room for. */
async function limitProblems({ sql }: Judged, operators: readonly Operator[]): Promise<Problem[]> {
  const { rows } = await sql.query<{ player_id: string; largest: string; ever: string }>(`
    select player_id, max(of_day) as largest, sum(ever) as ever from (
      select player_id, coalesce(sum(amount) filter (where status <> 'failed'), 0) as of_day, sum(amount) as ever
      from payments.deposit group by player_id, (created_at at time zone time_zone)::date
    ) d group by player_id
  `)
  const deposited = new Map(rows.map(({ player_id, ...sums }) => [player_id, sums]))
  return operators
    .flatMap(({ players }) => players)
    .flatMap((player): Problem[] => {
      const { dailyLimit } = player
      if (dailyLimit === undefined) return []
      const { largest = '0', ever = '0' } = deposited.get(player.id) ?? {}
      const refused = player.history.filter(
        ({ call, answer }) => call.kind === 'createDeposit' && answer?.kind === 'refused',
      )
      const wrongly = refused.filter(({ call }) => 'amount' in call && BigInt(ever) + call.amount <= dailyLimit)
      return [
        ...(BigInt(largest) > dailyLimit
          ? [`${largest} were deposited on one day, and the limit is ${dailyLimit}`]
          : []),
        ...(wrongly.length > 0 ? [`${wrongly.length} deposits were refused that the limit leaves room for`] : []),
      ].map((text) => ({ player, text }))
    })
}

const unansweredCreations = ({ history }: Player): string[] => [
  ...history.flatMap(({ call, answer }) =>
    call.kind === 'createDeposit' && answer === undefined ? [`${call.kind} ${call.amount}`] : [],
  ),
  ...unansweredRequests(history).map((amount) => `requestWithdrawal ${amount}`),
]

/** Every event came, under one id, and nothing came that did not happen. */
async function eventProblems({ name, receiver, players }: Operator): Promise<Problem[]> {
  const expected = players
    .filter(({ isRegistered }) => isRegistered)
    .flatMap((player) => [
      ...closeBook(player).events,
      ...player.limits.map((limit) => `player.limit_changed ${player.id} ${limit}`),
    ])
  const received = () => [...receiver.events.values()].map(eventText)
  const missing = () => without(expected, received())
  await eventually(() => {
    const left = missing()
    if (left.length > 0) throw new Error(`${name} never heard of ${left.join(', ')}`)
    return true
  })
  return [
    ...without(received(), expected).map((event) => general(`${name} heard of ${event}, which is once too often`)),
    ...receiver.problems.map((text) => general(`${name}: ${text}`)),
  ]
}

/** What is left of a list when each of the others has taken one away. */
function without(list: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const other of others) counts.set(other, (counts.get(other) ?? 0) + 1)
  return list.filter((each) => {
    const left = counts.get(each) ?? 0
    counts.set(each, left - 1)
    return left <= 0
  })
}

export async function reconciliationProblems({ team }: Judged): Promise<Problem[]> {
  const report = await reconcile(team)
  return [
    ...report.differences.map((difference) => general(`the reconciliation differs: ${JSON.stringify(difference)}`)),
    ...report.inFlight.map((row) => general(`the reconciliation finds something unfinished: ${JSON.stringify(row)}`)),
  ]
}
