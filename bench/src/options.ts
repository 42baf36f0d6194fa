import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** How much is measured: the full form for figures that are kept, the short form for a quick look. */
export interface Extent {
  readonly rounds: number
  /** Of one measurement. */
  readonly windowMs: number
  readonly warmUpMs: number
  /** How long each system is under load before anything is measured: the first requests of a process compile its code. */
  readonly firstLoadMs: number
  readonly players: number
  readonly replayedKeys: number
  /** Accounts over which postings are spread, also in the SQL reference. */
  readonly accounts: number
  /** Rows of the ledger's entries on the filled system. */
  readonly rows: number
  /** Stored claims on the filled system. */
  readonly claims: number
  /** Endpoints that reply, beside the one that does not. */
  readonly neighbours: number
  /** Deposits whose bytes are counted. */
  readonly deposits: number
}

const full: Extent = {
  rounds: 5,
  windowMs: 4_000,
  warmUpMs: 1_000,
  firstLoadMs: 8_000,
  players: 200,
  replayedKeys: 1_000,
  accounts: 100_000,
  rows: 10_000_000,
  claims: 5_000_000,
  neighbours: 99,
  deposits: 5_000,
}

const short: Extent = {
  rounds: 2,
  windowMs: 700,
  warmUpMs: 200,
  firstLoadMs: 2_000,
  players: 100,
  replayedKeys: 200,
  accounts: 20_000,
  rows: 100_000,
  claims: 50_000,
  neighbours: 19,
  deposits: 500,
}

export interface Options extends Extent {
  readonly short: boolean
  readonly only: readonly string[] | undefined
  /** Measures pairs on a fresh system for five minutes, and nothing else. */
  readonly lasting: boolean
  /** Puts the figures into docs/performance.md. */
  readonly write: boolean
  /** Counts the bytes of a deposit, and measures nothing else. */
  readonly bytes: boolean
  readonly checkout: string
  readonly against: string | undefined
  /** Where the figures are written. */
  readonly out: string
  /** Where the systems keep their data while they run. */
  readonly dir: string
}

export const usage = (groups: readonly string[]): string => `npm run bench -- [options]

  --short             a quick look, within two minutes: fewer rounds, small fills
  --only A,B          only these groups: ${groups.join(', ')}
  --against DIR       measure the checkout in DIR too, in turns: the column "before"
  --lasting           pairs of 32 clients on a fresh system, for five minutes in quarter minutes, and nothing else
  --bytes             count the bytes of one deposit, table by table, and nothing else: about three minutes
  --write             also put the figures into docs/performance.md, with the commit; for a full run, or --lasting
  --rounds N          how often each case is measured (full ${full.rounds}, short ${short.rounds})
  --window-ms N       how long each time (full ${full.windowMs}, short ${short.windowMs})
  --out DIR           write results.json to DIR (bench/results)
  --dir DIR           keep the data of the systems under DIR while they run (the system's temporary folder)`

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
        write: { type: 'boolean', default: false },
        only: { type: 'string' },
        against: { type: 'string' },
        rounds: { type: 'string' },
        'window-ms': { type: 'string' },
        out: { type: 'string', default: resolve(root, 'bench/results') },
        dir: { type: 'string', default: tmpdir() },
      },
    })
    const { short: isShort, bytes, lasting, write, only, against, out, dir } = values
    const extent = isShort ? short : full
    const options = {
      ...{ ...extent, short: isShort, bytes, lasting, write, checkout: root },
      rounds: atLeastOne('rounds', values.rounds, extent.rounds),
      windowMs: atLeastOne('window-ms', values['window-ms'], extent.windowMs),
      only: known(only?.split(','), groups),
      against: against === undefined ? undefined : resolve(against),
      out: resolve(out),
      dir: resolve(dir),
    }
    const isLess = (['rounds', 'windowMs', 'rows'] as const).some((name) => options[name] < full[name])
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
