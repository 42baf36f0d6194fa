import { createInterface } from 'node:readline/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { errorCatalogue, type Input, type Operation, Rejection, readSeen, seenOf, visible } from '@backoffice/contracts'
import { type ReadOrNot, withNames } from '@backoffice/team-rows'
import { ConsoleUnreachable } from './console-client.ts'
import { clearScreen, print, printJson, printJsonLine, printRecord, printTable, say } from './output.ts'
import type { AnyRow, GivenOptions } from './row.ts'
import { callPages, type Session } from './session.ts'

/** What every command takes. */
export interface CommonOptions {
  readonly json?: boolean
  readonly as?: string
  readonly console?: string
  readonly operationId?: string
  readonly yes?: boolean
  /** Seconds between two looks. */
  readonly watch?: number
}

export type OpenSession = (options: CommonOptions) => Promise<Session>

/** Asks if it must, calls the operation, and prints the result: as JSON, or as the row shows it to people. */
export async function run(
  row: AnyRow,
  given: GivenOptions,
  options: CommonOptions & { open: OpenSession },
): Promise<void> {
  const { json = false, yes = false, operationId, watch: seconds } = options
  const session = await options.open(options)
  const named = await withIds(given, row.operation, session)
  const seen = await row.look?.(given, session)
  const input = await withSeen(row, { named, seen }, session)
  if (row.confirm !== undefined && !yes) await confirm(row.confirm(given, seen))
  const call = () =>
    row.operation.kind === 'query'
      ? callPages(session, row.operation, input as Input<Operation>)
      : session.call(row.operation, input as Input<Operation>, operationId)
  const look = async () => {
    const result = await (row.run?.({ session, input, seen, operationId, json }) ?? call())
    return json || (row.columns ?? row.isNamed) === undefined ? result : withRowNames(result as object, session)
  }
  if (seconds !== undefined)
    return watch({ look, show: (result) => show(row, result, json, seconds), everyMs: seconds * 1_000 })
  try {
    printResult(row, await look(), json)
  } catch (error) {
    if (!(error instanceof Rejection) || error.code !== 'AWAITS_APPROVAL') throw error
    printProposal(error, json)
  }
}

/** A list, or a record. Without names it is better than none. */
async function withRowNames(result: { readonly data?: readonly object[] }, session: Session): Promise<object> {
  const read: ReadOrNot = (operation, input) =>
    session.call(operation, input).catch((error) => {
      if (isPassing(error)) return undefined
      throw error
    })
  const { data = [result] } = result
  const named = await withNames(read, data)
  return data[0] === result ? (named[0] ?? result) : { ...result, data: named }
}

/** People name an operator, a provider, and a brand by its operator and environment; operations take ids. */
async function withIds(given: GivenOptions, { body }: Operation, session: Session): Promise<GivenOptions> {
  const { operatorId, providerId, brandId, environment, ...others } = given
  const ids: Record<string, unknown> = others
  if (typeof operatorId === 'string') ids.operatorId = (await session.operator(operatorId)).id
  if (providerId !== undefined) ids.providerId = providerId && (await session.provider(String(providerId))).id
  if (typeof brandId === 'string') ids.brandId = (await session.brand(brandId, String(environment))).id
  if ('environment' in body.properties && environment !== undefined) ids.environment = environment
  return ids
}

/**
 * Whoever decides signs what they have read: it is said before the question, unless that says it. A row that sends something
 * else has a `run`.
 */
async function withSeen(
  { operation, look, run: runsItself }: AnyRow,
  { named, seen }: { readonly named: GivenOptions; readonly seen: unknown },
  session: Session,
): Promise<GivenOptions> {
  if (runsItself !== undefined || !('seen' in operation.body.properties)) return named
  if (look !== undefined) return { ...named, seen: seenOf(operation, seen as never) }
  const shown = await readSeen((query, asked) => session.call(query, asked), operation, named)
  say(`about ${JSON.stringify((shown as { readonly seen: object }).seen)}\n`)
  return { ...named, ...shown }
}

function printResult({ columns, show }: AnyRow, result: unknown, json: boolean): void {
  const { data } = result as { readonly data: readonly never[] }
  if (json) printJson(columns === undefined ? result : data)
  else if (columns !== undefined) printTable(data, columns)
  else if (show !== undefined) show(result)
  else printRecord(result as object)
}

/** What takes two people was proposed: that is no failure. */
function printProposal({ details }: Rejection, json: boolean): void {
  const proposal = { state: 'proposed', ...details }
  if (json) {
    printJson(proposal)
    return
  }
  printRecord(proposal)
  print(`\nIt takes two people. Somebody else carries it out: proposals approve ${String(details?.proposalId)}\n`)
}

/** One of several looks: a screen of its own for a person, a line for a program. */
function show(row: AnyRow, result: unknown, json: boolean, seconds: number): void {
  if (json) {
    printJsonLine(row.columns === undefined ? result : (result as { readonly data: unknown }).data)
    return
  }
  clearScreen()
  print(`every ${seconds} s; changed at ${new Date().toISOString()}; Ctrl-C ends\n\n`)
  printResult(row, result, false)
}

/**
 * @param asked may hold text that an operator wrote
 * @throws when the answer is not yes, or nobody is there to give one
 */
async function confirm(asked: string): Promise<void> {
  const question = visible(asked)
  if (!process.stdin.isTTY) throw new Error(`${question} Nobody is here to answer: repeat the command with --yes.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('not done')
}

export const watchSecondsDefault = 5

export function watchSecondsOf(value: string): number {
  if (!/^[1-9]\d{0,4}$/.test(value)) throw new Error(`--watch takes whole seconds, not ${value}`)
  return Number(value)
}

export interface Watch<Result> {
  readonly look: () => Promise<Result>
  readonly show: (result: Result) => void
  readonly everyMs: number
  /** Ends it. A person does that with Ctrl-C. */
  readonly signal?: AbortSignal
}

/**
 * Looks again and again, and shows what differs from what was shown last.
 * @throws when the first look fails, or a later one in a way that does not pass by itself
 */
export async function watch<Result>({ look, show, everyMs, signal }: Watch<Result>): Promise<void> {
  let shown: string | undefined
  while (signal?.aborted !== true) {
    try {
      const result = await look()
      const text = JSON.stringify(result)
      if (text !== shown) show(result)
      shown = text
    } catch (error) {
      if (shown === undefined || !isPassing(error)) throw error
      say(`${(error as Error).message}; trying again\n`)
    }
    await wait(everyMs, undefined, signal === undefined ? {} : { signal }).catch(() => {})
  }
}

const isPassing = (error: unknown) =>
  error instanceof ConsoleUnreachable || (error instanceof Rejection && errorCatalogue[error.code].retryable)
