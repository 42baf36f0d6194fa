import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Progress } from '@backoffice/process/progress'
import type { Column } from './figures.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** How much is measured. */
const full = {
  rounds: 5,
  /** Of one measurement. */
  windowMs: 4_000,
  warmUpMs: 1_000,
  /** How long each system is under load before anything is measured: the first requests of a process compile its code. */
  firstLoadMs: 8_000,
  /** Each quarter of a minute of the lasting case. */
  quarterMs: 15_000,
  players: 200,
}
type Extent = Readonly<typeof full>
const short: Extent = { rounds: 2, windowMs: 700, warmUpMs: 200, firstLoadMs: 2_000, quarterMs: 300, players: 100 }

export interface Options extends Extent {
  readonly short: boolean
  readonly only: readonly string[] | undefined
  /** Puts the figures into docs/performance.md. */
  readonly write: boolean
  /** How many the larger ledger of `recovery` has. */
  readonly postings: number
  readonly checkout: string
  readonly against: string | undefined
  /** Where the figures are written. */
  readonly out: string
}

/** For what starts its systems itself. */
export interface AloneTools {
  readonly options: Options
  /** Stops what was started, also when the run is interrupted. */
  readonly ending: AsyncDisposableStack
  /** Prints a line of progress. */
  readonly say: (line: string) => void
  readonly progress: Progress
  readonly column: Column
  readonly checkout: string
}

export const usage = (groups: readonly string[]): string => `npm run bench -- [options]

  --short             a quick look, within two minutes: fewer rounds, small fills
  --only A,B          only these: ${groups.join(', ')}
  --lasting           the same as --only lasting: 32 clients on a fresh system, for five minutes in quarter minutes
  --against DIR       measure the checkout in DIR too, in turns: the column "before"
  --postings N        how many the larger ledger of recovery has (1,000,000: two minutes and 3 GB of disk)
  --write             also put the figures into docs/performance.md, with the commit; not with --short
  --out DIR           write results.json to DIR (local/bench/results)

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
        lasting: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        postings: { type: 'string', default: '1000000' },
        only: { type: 'string' },
        against: { type: 'string' },
        out: { type: 'string', default: resolve(root, 'local/bench/results') },
      },
    })
    const only = values.lasting ? ['lasting'] : values.only?.split(',')
    const unknown = only?.filter((name) => !groups.includes(name)) ?? []
    if (unknown.length > 0) throw new Error(`There is no group ${unknown.join(', ')}.`)
    const postings = Number(values.postings)
    if (!Number.isInteger(postings) || postings < 10_000) throw new Error('--postings takes a number from 10000.')
    if (values.write && values.short) throw new Error('--write keeps figures of a full run only.')
    return {
      ...{ ...(values.short ? short : full), short: values.short, write: values.write, postings, only },
      checkout: root,
      against: values.against === undefined ? undefined : resolve(values.against),
      out: resolve(values.out),
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage(groups)}`)
  }
}
