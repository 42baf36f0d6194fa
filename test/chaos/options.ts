import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type Extent, signersStepMsMax } from './plan.ts'

export interface ChaosOptions extends Extent {
  readonly seed: string
  /** Players who are under way at the same time. */
  readonly players: number
  readonly clientsPerPlayer: number
  /** Ends leases by hand once the faults are over, as if the time had passed. */
  readonly skipLeases: boolean
  /** Instead of all that: a standby that is behind is promoted so many times. */
  readonly promotions: number
}

/** Over a midnight, whatever time it is, and over the day that a higher limit waits. */
const clockStepMsMax = 36 * 3_600_000

export const shortForm = {
  durationMs: 9_000,
  kills: 9,
  players: 4,
  clientsPerPlayer: 2,
  silenceMsMax: 3_000,
  clockStepMsMax,
  skipLeases: true,
  promotions: 0,
} as const

const killsPerMinute = 11
const longForm = { players: 8, clientsPerPlayer: 3, silenceMsMax: 30_000, clockStepMsMax, skipLeases: false } as const

export const newSeed = (): string => String(randomInt(1_000_000_000))

export const usage = `npm run chaos -- [options]

Money moves while processes die, freeze and lose their connections, and clocks step: by ${clockStepMsMax / 3_600_000} hours, where somebody
signs or checks signatures for operators by ${signersStepMsMax / 1_000} seconds. Then everything is held against the clients' own
records. Exit status 1 when anything differs.

  --seed S       the choices of faults and clients; printed at the start, made up when left out
  --minutes M    how long faults happen (default 10), with ${killsPerMinute} kills a minute. For three kills there are one freeze,
                 one fault of a connection and one clock that steps
  --promotions N instead of all that: N times a standby that is behind is promoted under the running services
  --help`

/** @throws with the usage when an argument is unknown or not well formed */
export function parseOptions(args: readonly string[]): ChaosOptions {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({ args: [...args], options: { seed: text, minutes: text, promotions: text } })
    const { seed = newSeed(), minutes = '10', promotions = '0' } = values
    if (!(Number(minutes) > 0 && Number(promotions) >= 0)) throw new Error('--minutes and --promotions take numbers')
    const durationMs = Number(minutes) * 60_000
    const kills = Math.ceil(Number(minutes) * killsPerMinute)
    return { ...longForm, seed, durationMs, kills, promotions: Number(promotions) }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`)
  }
}
