import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** How much is measured: in full for figures that are kept, in short for a quick look. */
const extents = {
  rounds: [5, 2],
  /** Of one measurement. */
  windowMs: [4_000, 700],
  warmUpMs: [1_000, 200],
  /** How long each system is under load before anything is measured: the first requests of a process compile its code. */
  firstLoadMs: [8_000, 2_000],
  /** Each quarter of a minute of the lasting case. */
  quarterMs: [15_000, 300],
  players: [200, 100],
  /** Deposits whose bytes are counted. */
  deposits: [5_000, 500],
} as const

export type Extent = Readonly<Record<keyof typeof extents, number>>
const extentOf = (place: 0 | 1) =>
  Object.fromEntries(Object.entries(extents).map(([name, values]) => [name, values[place]])) as Extent
const [full, short] = [extentOf(0), extentOf(1)]

export interface Options extends Extent {
  readonly short: boolean
  readonly only: readonly string[] | undefined
  /** Puts the figures into docs/performance.md. */
  readonly write: boolean
  /** Counts the bytes of a deposit, and measures nothing else. */
  readonly bytes: boolean
  /** How many the largest ledger of `recovery` has. */
  readonly postings: number
  readonly checkout: string
  readonly against: string | undefined
  /** Where the figures are written. */
  readonly out: string
}

export const usage = (groups: readonly string[]): string => `npm run bench -- [options]

  --short             a quick look, within two minutes: fewer rounds, small fills
  --only A,B          only these groups: ${groups.join(', ')}
  --against DIR       measure the checkout in DIR too, in turns: the column "before"
  --lasting           the same as --only lasting: 32 clients on a fresh system, for five minutes in quarter minutes
  --recovery          the same as --only recovery: a run after a restore, and a full proof, in two sizes of ledger
  --postings N        how many the larger one has (1,000,000: two minutes and 3 GB of disk; at least 10,000)
  --bytes             count the bytes of one deposit, table by table, and nothing else: about three minutes
  --write             also put the figures into docs/performance.md, with the commit; for a full run, or some groups of one
  --rounds N          how often each case is measured (full ${full.rounds}, short ${short.rounds})
  --window-ms N       how long each time (full ${full.windowMs}, short ${short.windowMs})
  --out DIR           write results.json to DIR (bench/results)

The systems keep their data in the temporary folder: TMPDIR names another one.`

/**
 * @param groups the names that `--only` takes
 * @throws with the usage when an argument is unknown or not well formed
 */
export function parseOptions(args: readonly string[], groups: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        short: { type: 'boolean', default: false },
        bytes: { type: 'boolean', default: false },
        lasting: { type: 'boolean', default: false },
        recovery: { type: 'boolean', default: false },
        postings: { type: 'string' },
        write: { type: 'boolean', default: false },
        only: { type: 'string' },
        against: { type: 'string' },
        rounds: { type: 'string' },
        'window-ms': { type: 'string' },
        out: { type: 'string', default: resolve(root, 'bench/results') },
      },
    })
    const { short: isShort, bytes, lasting, recovery, write, only, against, out } = values
    const alone = Object.entries({ lasting, recovery }).flatMap(([name, is]) => (is ? [name] : []))
    const extent = isShort ? short : full
    const options = {
      ...{ ...extent, short: isShort, bytes, write, checkout: root },
      rounds: atLeastOne('rounds', values.rounds, extent.rounds),
      windowMs: atLeastOne('window-ms', values['window-ms'], extent.windowMs),
      postings: atLeastOne('postings', values.postings, 1_000_000),
      only: alone.length > 0 ? alone : known(only?.split(','), groups),
      against: against === undefined ? undefined : resolve(against),
      out: resolve(out),
    }
    const isLess = (['rounds', 'windowMs'] as const).some((name) => options[name] < full[name])
    if (options.write && (options.bytes || isLess)) throw new Error('--write keeps figures of a full run only.')
    return options
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage(groups)}`)
  }
}

function atLeastOne(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a number from 1, not "${text}".`)
  return value
}

function known(names: readonly string[] | undefined, groups: readonly string[]): readonly string[] | undefined {
  const unknown = names?.filter((name) => !groups.includes(name)) ?? []
  if (unknown.length > 0) throw new Error(`There is no group ${unknown.join(', ')}.`)
  return names
}
