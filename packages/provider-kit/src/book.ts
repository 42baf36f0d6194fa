import { fromMinorUnits, toMinorUnits } from '@backoffice/contracts/formats'
import type { ProviderClient } from './client.ts'
import type { Entry } from './store.ts'

/** Sums in minor units. */
export interface Sums {
  staked: bigint
  won: bigint
  rolledBack: bigint
}
const nothing = (): Sums => ({ staked: 0n, won: 0n, rolledBack: 0n })

/** What the provider's own store says of rounds and players. */
export interface Book {
  /** By player and round, each with a stake that was taken. */
  readonly rounds: ReadonlyMap<string, Sums>
  /** By player, with what needs no round. */
  readonly players: ReadonlyMap<string, Sums>
  /** Messages without an outcome. */
  readonly owed: number
}

export function bookOf(entries: readonly Readonly<Entry>[]): Book {
  const rounds = new Map<string, Sums>()
  const players = new Map<string, Sums>()
  const amounts = new Map<string, bigint>()
  const add = (body: { playerId: string; roundId?: string }, field: keyof Sums, amount: bigint) => {
    const sums = [of(players, body.playerId)]
    if (body.roundId !== undefined) sums.push(of(rounds, `${body.playerId} ${body.roundId}`))
    for (const each of sums) each[field] += amount
  }
  for (const { message } of entries)
    if (message.kind === 'bet') amounts.set(message.id, toMinorUnits(JSON.parse(message.body).amount))
  const taken = new Set(
    entries
      .filter(({ message, outcome }) => message.kind === 'bet' && outcome?.meaning === 'done')
      .map(({ message }) => message.id),
  )
  for (const { message, outcome } of entries) {
    if (outcome?.meaning !== 'done') continue
    const body = JSON.parse(message.body)
    if (message.kind === 'bet') add(body, 'staked', toMinorUnits(body.amount))
    if (message.kind === 'win') add(body, 'won', toMinorUnits(body.amount))
    if (message.kind === 'spin') {
      add(body, 'staked', toMinorUnits(body.amount))
      add(body, 'won', toMinorUnits(body.win))
    }
    if (message.kind === 'rollback' && outcome.result?.applied === true) {
      const amount = amounts.get(body.betTransactionId) ?? 0n
      // The bet had been taken after all, as its rollback has told.
      if (!taken.has(body.betTransactionId)) add(body, 'staked', amount)
      add(body, 'rolledBack', amount)
    }
  }
  return { rounds, players, owed: entries.filter(({ outcome }) => outcome === undefined).length }
}

function of(sums: Map<string, Sums>, key: string): Sums {
  const found = sums.get(key) ?? nothing()
  sums.set(key, found)
  return found
}

/** What a player has won or lost by this book. */
export const netOf = ({ staked, won, rolledBack }: Sums): bigint => won + rolledBack - staked

interface Comparison {
  /** False for rounds of these days that were none of this book's. */
  readonly isOurs?: (roundId: string) => boolean
  /** Reads what the operator says that its players won or lost by play, in minor units; absent: nobody asks. */
  readonly statementOf?: (playerId: string) => Promise<bigint>
}

/** Holds a book against what they hold: rounds, transactions, statements. @returns a line for each difference */
export async function compareBook(
  client: ProviderClient,
  entries: readonly Readonly<Entry>[],
  { isOurs = () => true, statementOf }: Comparison = {},
): Promise<readonly string[]> {
  const book = bookOf(entries)
  const problems = [
    ...(await compareRounds(client, book, isOurs)),
    ...(await compareTransactions(client, entries)),
    ...(book.owed > 0 ? [`${book.owed} messages are owed`] : []),
  ]
  for (const [playerId, sums] of statementOf === undefined ? [] : book.players) {
    const theirs = await statementOf?.(playerId)
    if (theirs !== netOf(sums))
      problems.push(
        `statement of ${playerId}: ${fromMinorUnits(netOf(sums))} here, ${fromMinorUnits(theirs ?? 0n)} there`,
      )
  }
  return problems
}

async function compareRounds(
  client: ProviderClient,
  book: Book,
  isOurs: (roundId: string) => boolean,
): Promise<readonly string[]> {
  const problems: string[] = []
  const seen = new Set<string>()
  // Yesterday, today and tomorrow in UTC: one of them is today where the brand is.
  for (const off of [-1, 0, 1]) {
    const day = new Date(Date.now() + off * 86_400_000).toISOString().slice(0, 10)
    for (const round of await client.rounds({ day })) {
      if (!isOurs(round.roundId)) continue
      const key = `${round.playerId} ${round.roundId}`
      seen.add(key)
      const ours = book.rounds.get(key) ?? nothing()
      for (const field of ['staked', 'won', 'rolledBack'] as const)
        if (toMinorUnits(round[field]) !== ours[field])
          problems.push(`round ${key}: ${field} is ${fromMinorUnits(ours[field])} here and ${round[field]} there`)
      if (round.state === 'open') problems.push(`round ${key} is open`)
    }
  }
  for (const key of book.rounds.keys()) if (!seen.has(key)) problems.push(`round ${key} is not known there`)
  return problems
}

/** Asks for each transaction by its id. */
async function compareTransactions(
  client: ProviderClient,
  entries: readonly Readonly<Entry>[],
): Promise<readonly string[]> {
  const problems: string[] = []
  const left = entries.filter(({ message, outcome }) => message.kind !== 'close' && outcome?.meaning !== 'given up')
  const next = async () => {
    for (let entry = left.shift(); entry !== undefined; entry = left.shift()) {
      const { message, outcome } = entry
      const kind = message.kind === 'spin' ? 'bet' : (message.kind as 'bet' | 'win' | 'rollback')
      const held = await client.transaction(kind, message.id)
      const done = outcome?.meaning === 'done'
      const isAsWeSay = done ? held?.outcome === 'posted' || held?.outcome === 'noted' : held?.outcome !== 'posted'
      if (!isAsWeSay) problems.push(`${message.kind} ${message.id}: ${outcome?.meaning} here, ${held?.outcome} there`)
      if (done && 'amount' in outcome.result && held !== undefined && held.amount !== outcome.result.amount)
        problems.push(`${message.kind} ${message.id}: ${outcome.result.amount} here, ${held.amount} there`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, next))
  return problems
}
