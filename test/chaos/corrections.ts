import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { fromMinorUnits, type Input, operations, Rejection, type SeenPart, toMinorUnits } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import { playerRequest } from '../journey.ts'
import { Client } from './client.ts'
import type { Random } from './random.ts'
import type { ChaosSystem } from './system.ts'

/** What a person of the team did about a correction. Times are of this machine's clock, which is PostgreSQL's too. */
export interface Step {
  readonly by: 'proposer' | 'approver'
  readonly calledAt: number
  readonly returnedAt: number
  /** `done`, or the code of the refusal, with the state of the proposal where it names one. */
  readonly answer: string
}

/** A correction of a balance in production, which takes two people. */
export interface Correction {
  readonly reference: string
  /** Signed, in minor units. */
  readonly amount: bigint
  /** When the time for its approval is over. */
  readonly expiresAt: number
  /** The attempts to carry it out, after it was proposed. */
  readonly steps: readonly Step[]
}

export interface Posted {
  readonly reference: string
  readonly amount: bigint
  readonly balanceAfter: bigint
}

const { adjustWallet } = operations.wallet
/** PostgreSQL's time and ours are both read in milliseconds. */
const grainMs = 5
const correctorsMax = 2
const correctionsPerPlayer = 20
const amountMax = 9_999
const expiresWithinMsMax = 5_000
const approvedWithinMsMax = 7_000
const pauseMs = 100
const statementLimit = 200
const expired = 'PROPOSAL_NOT_OPEN expired'
const doneNever = new Set(['INSUFFICIENT_FUNDS', expired])
const final = new Set(['done', ...doneNever, 'PROPOSAL_NOT_OPEN approved', 'TWO_PEOPLE_REQUIRED'])

/** Holds the corrections of one player against its statement, oldest entry first, and its balance. */
export function judgeCorrections(
  corrections: readonly Correction[],
  statement: readonly Posted[],
  available: bigint,
): readonly string[] {
  const problems: string[] = []
  const posted = Map.groupBy(statement, ({ reference }) => reference)
  for (const { reference, amount, expiresAt, steps } of corrections) {
    const complain = (text: string) => void problems.push(`${reference} ${text}`)
    const entries = posted.get(reference) ?? []
    posted.delete(reference)
    if (entries.length > 1) complain(`was carried out ${entries.length} times`)
    if (entries.some((entry) => entry.amount !== amount)) complain('was carried out with another amount')
    const isDone = entries.length > 0
    const inTime = steps.some(({ by, calledAt }) => by === 'approver' && calledAt < expiresAt + grainMs)
    if (isDone && !inTime) complain('was carried out, and nobody else had approved it in time')
    for (const { by, answer, returnedAt } of steps) {
      if (by === 'proposer' && answer === 'done') complain('was carried out by whoever proposed it')
      if (answer === 'done' && !isDone) complain('was told as done and is not in the statement')
      if (doneNever.has(answer) && isDone) complain(`was refused with ${answer} and is in the statement`)
      if (answer === expired && returnedAt < expiresAt - grainMs) complain('was refused as expired before it was')
    }
  }
  for (const reference of posted.keys()) problems.push(`the statement has ${reference}, which nobody proposed`)
  let balance = 0n
  for (const { reference, amount, balanceAfter } of statement) {
    balance += amount
    if (balance !== balanceAfter) problems.push(`after ${reference} the statement does not add up`)
  }
  if (available !== balance) problems.push(`available is ${fromMinorUnits(available)}, not ${fromMinorUnits(balance)}`)
  return problems
}

interface Corrected {
  readonly id: string
  readonly corrections: Correction[]
}

interface Of {
  readonly operatorId: string
  readonly client: Client
  readonly deadline: () => number
}

/** Two people correct balances of production: one proposes, and another approves, in time or too late. */
export class Corrections {
  readonly #system: Pick<ChaosSystem, 'team' | 'second' | 'sql'>
  readonly #seen: SeenPart<typeof adjustWallet>
  readonly #client: Client
  readonly #deadline: () => number
  readonly #players: Corrected[] = []
  readonly #problems: string[] = []
  readonly #running: Promise<unknown>
  #isStopped = false

  private constructor(
    system: Pick<ChaosSystem, 'team' | 'second' | 'sql'>,
    random: Random,
    { operatorId, client, deadline }: Of,
  ) {
    this.#system = system
    this.#seen = { operatorId, environment: 'production', currency: 'BRL' }
    this.#client = client
    this.#deadline = deadline
    this.#running = Promise.all(
      Array.from({ length: correctorsMax }, (_, index) => this.#correct(random.stream(`corrector ${index + 1}`))),
    )
  }

  static async start(
    system: ChaosSystem,
    random: Random,
    { ending, deadline }: { readonly ending: AsyncDisposableStack; readonly deadline: () => number },
  ): Promise<Corrections> {
    const input = { name: 'corrected', rateLimitPerMinute: 1_000_000 }
    const { operatorId, production } = await eventually(() =>
      system.team.call(operations.gateway.createOperator, { input }),
    )
    const credentials = { key: production?.key ?? '', secret: production?.secret ?? '' }
    const client = new Client(system.baseUrls, credentials, deadline)
    ending.defer(() => client.close())
    const corrections = new Corrections(system, random, { operatorId, client, deadline })
    ending.defer(() => corrections.end())
    return corrections
  }

  /** How many corrections were carried out and refused as expired, as far as anybody was told. */
  get figures() {
    const answers = this.#players.flatMap(({ corrections }) =>
      corrections.map(({ steps }) => steps.map(({ answer }) => answer)),
    )
    const count = (answer: string) => answers.filter((of) => of.includes(answer)).length
    return { corrected: count('done'), expired: count(expired) }
  }

  /** Begins nothing more. */
  end(): void {
    this.#isStopped = true
  }

  async stop(): Promise<void> {
    this.end()
    await this.#running
  }

  /** To be called when nothing happens any more. */
  async judge(random: Random): Promise<readonly string[]> {
    const problems = [...this.#problems]
    for (const { id, corrections } of this.#players) {
      const read = async (path: string) =>
        (await this.#client.ask({ method: 'GET', path: `/players/${id}/${path}` }, random)).reply?.body
      const statement = (await read(`transactions?limit=${statementLimit}`)).data.map(postedOf).reverse()
      problems.push(...judgeCorrections(corrections, statement, toMinorUnits((await read('wallet')).available)))
    }
    return problems
  }

  async #correct(random: Random): Promise<void> {
    while (!this.#isStopped) {
      const body = playerRequest()
      const request = { method: 'POST', path: '/players', body, idempotencyKey: randomUUID() } as const
      const { reply } = await this.#client.ask(request, random)
      if (reply?.status !== 201) {
        this.#problems.push(`unexpected answer to ${request.path}: ${reply?.status} ${reply?.bytes}`)
        return
      }
      const player: Corrected = { id: reply.body.id, corrections: [] }
      this.#players.push(player)
      while (!this.#isStopped && player.corrections.length < correctionsPerPlayer)
        await this.#correctOnce(player, random)
    }
  }

  async #correctOnce({ id: playerId, corrections }: Corrected, random: Random): Promise<void> {
    const amount = BigInt(random.integer(1, amountMax)) * (random.oneIn(3) ? -1n : 1n)
    const [expiresInMs, approvedInMs] = [
      random.integer(500, expiresWithinMsMax),
      random.integer(0, approvedWithinMsMax),
    ]
    const [isOwn, isTwice] = [random.oneIn(4), random.oneIn(3)]
    const reference = randomUUID()
    const input = { playerId, amount: fromMinorUnits(amount), reference, seen: this.#seen, reason: 'chaos' }
    const steps: Step[] = []
    const approves = await this.#propose(input, steps)
    const expiresAt = approves === undefined ? 0 : await this.#expireIn(approves, expiresInMs)
    corrections.push({ reference, amount, expiresAt, steps })
    if (approves === undefined) return
    if (isOwn) await this.#carryOut('proposer', { input, approves }, steps)
    await wait(approvedInMs)
    const approve = () => this.#carryOut('approver', { input, approves }, steps)
    await Promise.all(isTwice ? [approve(), approve()] : [approve()])
  }

  /** @returns the proposal; undefined when it was done at once, or never answered */
  async #propose(input: Input<typeof adjustWallet>, steps: Step[]): Promise<string | undefined> {
    while (performance.now() < this.#deadline()) {
      const calledAt = Date.now()
      try {
        await this.#system.team.call(adjustWallet, { input })
        steps.push({ by: 'proposer', calledAt, returnedAt: Date.now(), answer: 'done' })
        return undefined
      } catch (error) {
        const proposalId = error instanceof Rejection ? error.details?.proposalId : undefined
        if (typeof proposalId === 'string') return proposalId
      }
      await wait(pauseMs)
    }
    return undefined
  }

  /** Tries until the answer is final. While a clock is wrong, nobody's login is right. */
  async #carryOut(
    by: Step['by'],
    call: { readonly input: Input<typeof adjustWallet>; readonly approves: string },
    steps: Step[],
  ): Promise<void> {
    const person = by === 'proposer' ? this.#system.team : this.#system.second
    let answer: string | undefined
    do {
      if (answer !== undefined) await wait(pauseMs)
      const calledAt = Date.now()
      answer = await person.call(adjustWallet, call).then(() => 'done', answerOf)
      steps.push({ by, calledAt, returnedAt: Date.now(), answer })
    } while (!final.has(answer) && performance.now() < this.#deadline())
  }

  /** Lets a proposal expire in so many milliseconds by PostgreSQL's clock, as if it had waited for the rest of its day. */
  async #expireIn(proposalId: string, expiresInMs: number): Promise<number> {
    const { rows } = await eventually(() =>
      this.#system.sql.query<{ expires_at: Date }>(
        `update wallet.team_proposal set expires_at = clock_timestamp() + make_interval(secs => $2)
           where id = $1 returning expires_at`,
        [proposalId, expiresInMs / 1_000],
      ),
    )
    return rows[0]?.expires_at.getTime() ?? 0
  }
}

const answerOf = (error: unknown): string =>
  error instanceof Rejection ? `${error.code} ${error.details?.state ?? ''}`.trim() : String(error)

const postedOf = (item: { amount: string; balanceAfter: string; reference: { id: string } }): Posted => ({
  reference: item.reference.id,
  amount: toMinorUnits(item.amount),
  balanceAfter: toMinorUnits(item.balanceAfter),
})
