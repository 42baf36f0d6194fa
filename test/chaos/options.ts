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

export const shortForm = {
  durationMs: 9_000,
  kills: 9,
  players: 4,
  clientsPerPlayer: 2,
  silenceMsMax: 3_000,
  clockStepMsMax: 36 * 3_600_000,
  skipLeases: true,
  promotions: 0,
} as const

const minutesDefault = 10
const killsPerMinute = 11
const silenceMsMaxDefault = 30_000
/** Over a midnight, whatever time it is, and over the day that a higher limit waits. */
const clockStepMsMaxDefault = 36 * 3_600_000

export const newSeed = (): string => String(randomInt(1_000_000_000))

export const usage = `npm run chaos -- [options]

Money moves while processes die, freeze and lose their connections. Then everything is held against the clients' own
records. Exit status 1 when anything differs.

  --seed S       the choices of faults and clients; printed at the start, made up when left out
  --minutes M    how long faults happen (default ${minutesDefault})
  --kills K      processes that are killed in that time (default ${killsPerMinute} a minute). For three kills there are one
                 freeze, one fault of a connection and one clock that steps
  --players P    players whose clients are under way at the same time (default 8)
  --clients C    clients of each player (default 3)
  --silence S    the longest freeze in seconds (default ${silenceMsMaxDefault / 1_000})
  --clock S      the largest step of a clock in seconds (default ${clockStepMsMaxDefault / 1_000}). Who signs or checks
                 signatures for operators steps by ${signersStepMsMax / 1_000} at most
  --promotions N instead of all that: N times a standby that is behind is promoted under the running services
  --help`

/** @throws with the usage when an argument is unknown or not well formed */
export function parseOptions(args: readonly string[]): ChaosOptions {
  const text = { type: 'string' } as const
  const options = {
    seed: text,
    minutes: text,
    kills: text,
    players: text,
    clients: text,
    silence: text,
    clock: text,
    promotions: text,
  } as const
  let values: Partial<Record<keyof typeof options, string>>
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`)
  }
  const number = (name: keyof typeof options, whenLeftOut: number) => {
    const given = values[name]
    const parsed = given === undefined ? whenLeftOut : Number(given)
    if (!(parsed > 0)) throw new Error(`--${name} takes a number above 0, not "${given}".\n\n${usage}`)
    return parsed
  }
  const minutes = number('minutes', minutesDefault)
  return {
    seed: values.seed ?? newSeed(),
    durationMs: minutes * 60_000,
    kills: Math.ceil(number('kills', minutes * killsPerMinute)),
    players: Math.ceil(number('players', 8)),
    clientsPerPlayer: Math.ceil(number('clients', 3)),
    silenceMsMax: number('silence', silenceMsMaxDefault / 1_000) * 1_000,
    clockStepMsMax: number('clock', clockStepMsMaxDefault / 1_000) * 1_000,
    skipLeases: false,
    promotions: values.promotions === undefined ? 0 : Math.ceil(number('promotions', 1)),
  }
}
