import { createHash } from 'node:crypto'
import { fromMinorUnits } from '@backoffice/contracts/formats'
import { Provider, type ProviderOptions } from './provider.ts'
import { type Message, message, type Outcome } from './store.ts'

/** A player who has opened a game. */
export interface Seat {
  readonly playerId: string
  readonly sessionId: string
  readonly gameId: string
  readonly currency: string
}

export interface SimulatorOptions extends Omit<ProviderOptions, 'next'> {
  /** Everything that is chosen follows from it. */
  readonly seed: string
  /** In the ids of its rounds. */
  readonly name: string
  readonly seats: readonly Seat[]
  readonly rounds: number
  readonly roundsAtOnce: number
  readonly onRound?: (ended: number) => unknown
}

/** What a round is made of; so many of a hundred. */
const plots = {
  won: 30,
  lost: 15,
  spin: 25,
  'close beside the win': 8,
  'two bets': 8,
  'taken back': 6,
  'free round': 3,
  jackpot: 2,
  tournament: 3,
}
type Plot = keyof typeof plots

const stakeMax = 300

/** Numbers that follow from a seed and a name alone. */
export function chance(seed: string, name: string): () => number {
  let count = 0
  return () => createHash('sha256').update(`${seed}/${name}/${count++}`).digest().readUInt32BE() / 2 ** 32
}

/** A provider that plays: its rounds follow from the seed, so that a process that is killed goes on where it was. */
export class Simulator {
  readonly #options: SimulatorOptions
  readonly #provider: Provider

  constructor(options: SimulatorOptions) {
    this.#options = options
    this.#provider = new Provider({ ...options, next: (ended, outcome) => this.#next(ended, outcome) })
  }

  /** Plays what is left of the rounds, and what the process before owed. */
  async run(): Promise<void> {
    const { rounds, roundsAtOnce, store, onRound } = this.#options
    await this.#provider.resume()
    const numbers = Array.from({ length: rounds }, (_, number) => number)
    const left = numbers.filter((number) => store.outcomeOf(this.#first(number)) === undefined)
    let ended = rounds - left.length
    const player = async () => {
      for (let number = left.shift(); number !== undefined; number = left.shift()) {
        await this.#provider.send(this.#first(number))
        ended += 1
        onRound?.(ended)
      }
    }
    await Promise.all(Array.from({ length: roundsAtOnce }, player))
  }

  #round(number: number) {
    const { seats, name, seed } = this.#options
    const seat = seats[number % seats.length] as Seat
    // Players of a live table share the round's id.
    const roundId = number % 10 < 3 ? `${name}-table-${Math.floor(number / seats.length)}` : `${name}-${number}`
    const random = chance(seed, `${name}/${number}`)
    const stake = BigInt(1 + Math.floor(random() * stakeMax))
    return { seat, roundId, plot: pick(random()), stake, prize: prizeOf(stake, random()) }
  }

  /** Of a transactionId: `<name>-<number>-<what>`. */
  #numberOf(transactionId: string): number {
    return Number(transactionId.split('-').at(-2))
  }

  #first(number: number): Message {
    const { seat, roundId, plot, stake, prize } = this.#round(number)
    if (plot === 'tournament')
      return this.#win(number, 'prize', { amount: prize, kind: 'promotion', campaignId: 'cup', roundId: undefined })
    const bet = { ...seat, transactionId: this.#id(number, 'bet'), roundId, amount: fromMinorUnits(stake) }
    if (plot === 'spin') return message('spin', { ...bet, win: fromMinorUnits(prize) })
    if (plot === 'free round') return message('bet', { ...bet, amount: '0.00', freeRound: true })
    return message('bet', bet)
  }

  #next(ended: Message, { meaning }: Outcome): readonly Message[] {
    const body = JSON.parse(ended.body)
    const what = String(body.betTransactionId ?? body.transactionId ?? '')
      .split('-')
      .at(-1)
    if (ended.kind === 'close' || ended.kind === 'win' || ended.kind === 'spin') return []
    const number = this.#numberOf(body.betTransactionId ?? body.transactionId)
    const { seat, roundId, plot, stake, prize } = this.#round(number)
    const won = (fields: object = {}) =>
      this.#win(number, 'win', { amount: prize, betTransactionId: this.#id(number, 'bet'), roundEnds: true, ...fields })
    const close = message('close', { playerId: seat.playerId, roundId })
    if (what === 'double') {
      // The hand is played with what was staked. A double that was taken back is known to be, before that.
      if (ended.kind === 'bet' && meaning === 'given up') return []
      if (ended.kind === 'rollback' || meaning === 'refused') return [won()]
      const second = this.#win(number, 'win2', { amount: prize, betTransactionId: this.#id(number, 'double') })
      return [won(), second]
    }
    if (ended.kind === 'rollback' || meaning !== 'done') return []
    switch (plot) {
      case 'won':
        return [won()]
      case 'lost':
        return [close]
      case 'close beside the win':
        return [won({ roundEnds: undefined }), close]
      case 'two bets': {
        const double = { ...seat, transactionId: this.#id(number, 'double'), roundId, amount: fromMinorUnits(stake) }
        return [message('bet', double)]
      }
      case 'taken back':
        return [
          message('rollback', {
            transactionId: this.#id(number, 'back'),
            betTransactionId: body.transactionId,
            playerId: seat.playerId,
            roundId,
          }),
        ]
      case 'free round':
        return [won({ kind: 'free_round', campaignId: 'welcome' })]
      case 'jackpot':
        return [won(), this.#win(number, 'pot', { amount: 100n * stake, kind: 'jackpot' })]
      case 'spin':
      case 'tournament':
        return []
      default:
        return plot satisfies never
    }
  }

  #id(number: number, what: string): string {
    return `${this.#options.name}-${number}-${what}`
  }

  #win(
    number: number,
    what: string,
    { amount, ...fields }: { readonly amount: bigint; readonly [field: string]: unknown },
  ): Message {
    const { seat, roundId } = this.#round(number)
    const { playerId, currency } = seat
    const transactionId = this.#id(number, what)
    return message('win', { transactionId, playerId, roundId, currency, ...fields, amount: fromMinorUnits(amount) })
  }
}

function pick(random: number): Plot {
  let left = random * 100
  for (const [plot, share] of Object.entries(plots)) {
    left -= share
    if (left < 0) return plot as Plot
  }
  return 'won'
}

/** Every second stake loses; the others win half of it, or up to twice as much. */
const prizeOf = (stake: bigint, random: number): bigint =>
  random < 0.5 ? 0n : (stake * BigInt(50 + Math.floor((random - 0.5) * 300))) / 100n
