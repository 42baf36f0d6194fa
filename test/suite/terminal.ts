import { parseArgs, styleText } from 'node:util'
import { Progress } from '@backoffice/process/progress'
import type { Shard, Tier } from './files.ts'

export interface Options {
  readonly tier: Tier
  /** Workspaces, folders of test/ and files; without any, all. */
  readonly names: readonly string[]
  /** Only tests of what has changed, since a commit if one is named. */
  readonly changed: { readonly since: string | undefined } | undefined
  readonly shard: Shard | undefined
  /** Whether what this run takes is the reference from now on. */
  readonly record: boolean
  /** Everything has half a core. */
  readonly slow: boolean
}

export const usage = `npm test -- [names] [options]    npm run proofs -- [names] [options]

  names           workspaces with one of these words in their name, folders of test/, or files by path
  --changed [C]   of what this branch and the working tree have changed, since commit C if one is named
  --shard 2/3     the second of three machines
  --record        what the files take is the measure from now on
  --slow          all of it with half a core`

/** @throws Error that says what is wrong with the arguments */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      proofs: { type: 'boolean' },
      changed: { type: 'boolean' },
      shard: { type: 'string' },
      record: { type: 'boolean' },
      slow: { type: 'boolean' },
    },
  })
  const { proofs = false, changed = false, shard, record = false, slow = false } = values
  if (changed && positionals.length > 1) throw new Error('--changed takes one commit, and no names')
  return {
    tier: proofs ? 'proofs' : 'test',
    names: changed ? [] : positionals,
    changed: changed ? { since: positionals[0] } : undefined,
    shard: shard === undefined ? undefined : shardFrom(shard),
    record,
    slow,
  }
}

function shardFrom(text: string): Shard {
  const [, number = 0, count = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  if (number < 1 || number > count) throw new Error(`--shard is like 2/3, not ${text}`)
  return { number, count }
}

/** How far a run is. */
export const progress = new Progress('tests')

export function print(line = ''): void {
  progress.above(() => process.stdout.write(`${line}\n`))
}

export function printList(title: string, lines: readonly string[]): void {
  if (lines.length > 0) print(`\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

/** What nobody should pass over, although the run passed. It is red where the terminal has colours. */
export function printWarning(title: string, lines: readonly string[]): void {
  if (lines.length > 0) print(`\n${styleText('red', [`${title}:`, ...lines.map((line) => `  ${line}`)].join('\n'))}`)
}

export const lastLine = (passed: number, failed: number, skipped: number) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
