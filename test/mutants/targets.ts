import { globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from '../structure/source-files.ts'

const moneyCode = [
  'services/payments/src/{deposits,withdrawals}/*.ts',
  'services/payments/src/{records,transition}.ts',
  'services/wallet/src/{ledger,corrections}/*.ts',
  'services/gateway/src/{claims/*,http/idempotency}.ts',
  'packages/service-runtime/src/{commands,outbox}/*.ts',
]

/** What decides and writes about money: nothing that is for display. */
function isMoneyCode(path: string): boolean {
  return basename(path) !== 'views.ts' && basename(path) !== 'index.ts'
}

/**
 * The source files to mutate.
 * @param chosen beginnings of paths from the root; money code when there are none
 */
export function targetFiles(chosen: readonly string[]): readonly string[] {
  if (chosen.length === 0) return globSync(moneyCode, { cwd: root }).filter(isMoneyCode).sort()
  const sources = globSync('{services,packages}/*/src/**/*.ts', { cwd: root })
  return sources.filter((path) => chosen.some((beginning) => path.startsWith(beginning))).sort()
}

/** `services/payments` of a path in it. */
export function workspaceOf(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}

/** The test files of a workspace, from the workspace on: those whose path begins like this. */
export function testFilesOf(workspace: string, beginning = 'test/'): readonly string[] {
  const files = globSync('test/**/*.test.ts', { cwd: join(root, workspace) })
  return files.filter((path) => path.startsWith(beginning)).sort()
}

/** How one test file did so far. */
export interface Record {
  readonly file: string
  /** How long it took when it last ran to its end. */
  readonly seconds: number
  readonly kills: number
  /** Whether it was seen to pass without a mutant. */
  readonly isSound: boolean
}

/** Nothing is known of a file before it has run. */
const secondsGuessed = 10

export function unknownRecord(file: string): Record {
  return { file, seconds: secondsGuessed, kills: 0, isSound: false }
}

/**
 * The order that finds a mistake soonest: the test named after the file, then those of its folder, then those that
 * killed most for their time.
 * @param path of the mutated file
 */
export function inOrder(path: string, records: readonly Record[]): readonly Record[] {
  const nearness = ({ file }: Record) => {
    if (basename(file, '.test.ts') === basename(path, '.ts')) return 0
    return basename(dirname(file)) === basename(dirname(path)) ? 1 : 2
  }
  const yieldOf = ({ kills, seconds }: Record) => (kills + 1) / seconds
  return [...records].sort((one, other) => nearness(one) - nearness(other) || yieldOf(other) - yieldOf(one))
}
