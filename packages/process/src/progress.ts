import { systemTimers, type Timer, type Timers } from './time.ts'

/** Where it is shown: standard error, so that standard output holds results only. */
interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const drawEveryMs = 100
/** While nothing new is known, the time that it took goes on. */
const tickEveryMs = 1_000
const clearLine = '\r\u001b[K'

/** How far something long is, and how long it still takes, in one line of a terminal. Where there is none, it shows nothing. */
export class Progress implements Disposable {
  readonly #what: string
  readonly #screen: Screen
  readonly #timers: Timers
  readonly #beganAt: number
  #place: { readonly where: string; readonly share: number } | undefined
  #drawnAt = Number.NEGATIVE_INFINITY
  #tick: Timer | undefined
  #line = ''

  /** @param what is under way */
  constructor(
    what: string,
    { screen = process.stderr, timers = systemTimers }: { readonly screen?: Screen; readonly timers?: Timers } = {},
  ) {
    this.#what = what
    this.#screen = screen
    this.#timers = timers
    this.#beganAt = timers.monotonic()
  }

  /**
   * @param where it is: how much is done, and of what
   * @param share of the whole that is done, from 0 to 1; 0 where nobody knows
   */
  at(where: string, share = 0): void {
    if (this.#screen.isTTY !== true) return
    this.#place = { where, share }
    if (this.#timers.monotonic() >= this.#drawnAt + drawEveryMs) this.#draw()
  }

  /** Writes what stays, above the line. */
  above(write: () => void): void {
    if (this.#line !== '') this.#screen.write(clearLine)
    write()
    if (this.#line !== '') this.#screen.write(this.#line)
  }

  /** The line goes. */
  [Symbol.dispose](): void {
    this.#timers.clearTimeout(this.#tick)
    if (this.#line !== '') this.#screen.write(clearLine)
    this.#line = ''
  }

  #draw(): void {
    const { where, share } = this.#place ?? { where: '', share: 0 }
    this.#drawnAt = this.#timers.monotonic()
    const tookMs = this.#drawnAt - this.#beganAt
    const left =
      share > 0 ? [`${Math.floor(share * 100)} %`, `some ${inTime((tookMs / share) * (1 - share))} left`] : []
    const line = [`${this.#what}: ${where}`, inTime(tookMs), ...left].join(', ')
    this.#line = line.slice(0, (this.#screen.columns ?? 80) - 1)
    this.#screen.write(`${clearLine}${this.#line}`)
    this.#timers.clearTimeout(this.#tick)
    this.#tick = this.#timers.setTimeout(() => this.#draw(), tickEveryMs)
  }
}

function inTime(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
