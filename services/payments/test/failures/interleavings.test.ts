import { operations, Rejection, type ServiceName } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { type MoneyPath, moneyPath } from '../money-path.ts'
import { type Choose, Interleaver, preemptionsIn, type Turn } from './interleaver.ts'
import { violations } from './invariants.ts'
import { type Pair, Players, pairs, stageFor, stepNames } from './money-races.ts'

/** How often a call that could go on may have to wait for the other: all such orders of two calls are tried. */
const preemptionsMax = Number(process.env.PREEMPTIONS_MAX ?? 1)
/** How many times three calls are put in a random order. */
const threesRuns = Number(process.env.THREES_RUNS ?? 25)
t.setTimeout(preemptionsMax > 1 || threesRuns > 25 ? 3_600_000 : 230_000)

const countLocked = async () => {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await admin.query({ name: 'locked', text })).rowCount ?? 0
}
const sidesMax = 3
const interleaver = new Interleaver(sidesMax, countLocked)
const sides = await startSides()
const path = sides[0] as MoneyPath
const admin = path.bed.sql('admin')
const players = new Players(path)

/** Each side has replicas and a broker of its own, so a call to a side runs there. All share the database of the first. */
async function startSides(): Promise<readonly MoneyPath[]> {
  const started: MoneyPath[] = []
  for (let index = 0; index < sidesMax; index++) {
    const shared = (name: ServiceName): Record<string, string> => {
      const url = started[0]?.bed.environment(name).DATABASE_URL
      return url === undefined ? {} : { DATABASE_URL: url }
    }
    const config = {
      players: shared('players'),
      payments: shared('payments'),
      wallet: { CHECKPOINT_EVERY_MS: 3_600_000, ...shared('wallet') },
    }
    started.push(await moneyPath(t, { config, intercept: () => interleaver.intercept(index) }))
  }
  return started
}

interface Answer {
  /** `done`, or the code of a refusal. */
  readonly code: string
  /** What was said too early: the wallet had not done its part of what a refusal speaks of. */
  readonly early: readonly string[]
}

/** Any error but a refusal is the call's fault. */
async function answerOf(call: Promise<unknown>): Promise<Answer> {
  try {
    await call
    return { code: 'done', early: [] }
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    const { depositId, withdrawalId, status } = (error.details ?? {}) as Record<string, string>
    const text = `select name from payments.outbox where aggregate = $1 and kind = 'command'`
    const { rows } = await admin.query({ name: 'early', text, values: [depositId ?? withdrawalId] })
    return { code: error.code, early: rows.map(({ name }) => `${status}, before ${name}`) }
  }
}

/** One run: the outcomes of the calls, which rules the books break afterwards, and the turns. */
async function runOnce(set: Pair['set'], choose: Choose) {
  const { playerId, calls } = await set({ path, playerId: await players.next() })
  await outboxesAreEmpty()
  const first: Promise<Answer>[] = []
  const turns = await interleaver.run(
    calls.map((call, index) => () => {
      const answer = answerOf(call(sides[index] as MoneyPath))
      first.push(answer)
      return answer
    }),
    choose,
  )
  const answers = await Promise.all(
    calls.map(async (call, index) => {
      const answer = (await first[index]) as Answer
      if (answer.code !== 'SERVICE_UNAVAILABLE') return answer
      // As an operator's server does it: an unknown outcome is asked for again.
      return eventually(async () => {
        const again = await answerOf(call(path))
        return again.code === 'SERVICE_UNAVAILABLE' ? false : again
      })
    }),
  )
  await outboxesAreEmpty()
  return {
    outcomes: answers.map(({ code }) => code).join(', '),
    broken: [...answers.flatMap(({ early }) => early), ...(await violations(admin, playerId))],
    turns,
  }
}

async function outboxesAreEmpty(): Promise<void> {
  const text = `select from payments.outbox union all select from players.outbox`
  await eventually(async () => (await admin.query({ name: 'unsent', text })).rowCount === 0)
}

const orderOf = (turns: readonly Turn[]) => turns.map(({ chosen }) => chosen)

/** Goes on with the call whose turn it was, as long as that can go on. */
const goOn: Choose = (possible, turns) => {
  const last = turns.at(-1)?.chosen
  return last !== undefined && possible.includes(last) ? last : (possible[0] as number)
}

/** Follows an order, and then goes on without a preemption. */
const following =
  (order: readonly number[]): Choose =>
  (possible, turns) => {
    const wanted = order[turns.length]
    return wanted !== undefined && possible.includes(wanted) ? wanted : goOn(possible, turns)
  }

/** The orders that differ from that of a run at one turn after its given beginning, and may be preempted as often. */
function othersThan(turns: readonly Turn[], beginning: number): number[][] {
  return turns.flatMap(({ possible }, at) =>
    at < beginning
      ? []
      : possible
          .filter((other) => other !== turns[at]?.chosen)
          .map((chosen) => [...turns.slice(0, at), { possible, chosen }])
          .filter((other) => preemptionsIn(other) <= preemptionsMax)
          .map(orderOf),
  )
}

for (const { title, set, outcomes } of pairs) {
  t.test(`${title}: right in every order with up to ${preemptionsMax} preemptions`, async (t) => {
    const seen = new Set<string>()
    const orders: number[][] = [[]]
    let runs = 0
    for (let order = orders.pop(); order !== undefined; order = orders.pop()) {
      const run = await runOnce(set, following(order))
      const wrong = { order: orderOf(run.turns).join(''), outcomes: run.outcomes, broken: run.broken }
      if (!outcomes.includes(run.outcomes) || run.broken.length > 0) t.fail('a wrong outcome', wrong)
      seen.add(run.outcomes)
      orders.push(...othersThan(run.turns, order.length))
      runs++
    }
    t.comment(`${runs} orders`)
    t.same([...seen].sort(), [...outcomes].sort(), 'each of the right outcomes comes about')
  })
}

t.test('three calls at once are right in random orders', async (t) => {
  /** 0 goes on; anything else lets another call go first. */
  const choosing =
    (choices: readonly number[]): Choose =>
    (possible, turns) => {
      const goingOn = goOn(possible, turns)
      const preferred = [goingOn, ...possible.filter((side) => side !== goingOn)]
      return preferred[(choices[turns.length % choices.length] ?? 0) % preferred.length] as number
    }
  const unlikely = new Set(['INTERNAL_ERROR', 'IDEMPOTENCY_CONFLICT'])
  const name = fc.constantFrom(...stepNames)
  const property = fc.asyncProperty(
    fc.tuple(name, name, name),
    fc.array(fc.nat(2), { minLength: 40, maxLength: 40 }),
    async (names, choices) => {
      const run = await runOnce((given) => stageFor(given, names), choosing(choices))
      const faults = run.outcomes.split(', ').filter((code) => unlikely.has(code))
      if (faults.length + run.broken.length > 0)
        throw new Error(JSON.stringify({ order: orderOf(run.turns).join(''), ...run, turns: undefined }))
    },
  )
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  await fc.assert(property, { numRuns: threesRuns, seed })
})

t.test('after all of it the ledger reconciles', async (t) => {
  const team = path.bed.team('carol')
  const { runId } = await team.call(operations.reconciler.reconcileWallet, { input: {} })
  const report = await eventually(async () => {
    const { report } = await team.call(operations.reconciler.reconcileWallet, { input: { runId } })
    return report ?? false
  })
  t.same(report.differences, [])
})
