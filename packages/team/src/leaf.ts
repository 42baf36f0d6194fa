import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { printJson } from './output.ts'
import { Session } from './session.ts'

/** What every command takes. */
export interface CommonOptions {
  readonly json?: boolean
  readonly as?: string
  readonly reason?: string
  readonly operationId?: string
  readonly yes?: boolean
}

/** Adds the options that every command takes. */
export function common(command: Command): Command {
  return command
    .option('--json', 'one JSON document on standard output')
    .option('--as <person>', 'a person of the development stack')
}

/** Adds those of a command that changes something. */
export function changing(
  command: Command,
  { reason = 'optional' }: { readonly reason?: 'optional' | 'required' } = {},
): Command {
  common(command).option(
    '--operation-id <id>',
    'of an earlier try: it is finished, or its result told, never done twice',
  )
  if (reason === 'required') return command.requiredOption('--reason <text>', 'why; kept in the audit trail')
  return command.option('--reason <text>', 'why; kept in the audit trail')
}

/** Adds --yes to a command that cannot be undone. */
export function irreversible(command: Command): Command {
  return command.option('-y, --yes', 'do not ask')
}

/** Opens a session, runs, prints: JSON as it is, or what `show` makes of it for people. */
export async function run<T>(
  options: CommonOptions,
  work: (session: Session) => Promise<T>,
  show: (result: T) => void,
): Promise<void> {
  const session = await Session.open(options)
  try {
    const result = await work(session)
    if (options.json) printJson(result)
    else show(result)
  } finally {
    await session.close()
  }
}

/** @throws when the answer is not yes, or nobody is there to give one */
export async function confirm(options: CommonOptions, question: string): Promise<void> {
  if (options.yes) return
  if (!process.stdin.isTTY) throw new Error(`${question} This cannot be undone: repeat the command with --yes.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('not done')
}

/** The reason as an operation's input takes it: absent when there is none. */
export function reasonOf(options: CommonOptions): { reason?: string } {
  return options.reason === undefined ? {} : { reason: options.reason }
}

/** Which operator and environment a command is about, where an id alone does not say. */
export interface BrandOptions extends CommonOptions {
  readonly operator: string
  readonly env: 'sandbox' | 'production'
}

export function ofBrand(command: Command): Command {
  return command
    .requiredOption('--operator <name>', 'name or id of the operator')
    .option('--env <environment>', 'sandbox or production', environment, 'production')
}

/** @throws when the value is no environment */
export function environment(value: string): string {
  if (value !== 'sandbox' && value !== 'production') throw new Error(`--env takes sandbox or production, not ${value}`)
  return value
}

export const integer =
  (name: string) =>
  (value: string): number => {
    if (!/^\d+$/.test(value)) throw new Error(`${name} takes a whole number, not ${value}`)
    return Number(value)
  }

/** A moment as people write it: a date, which begins at midnight UTC, or any ISO 8601 time. */
export function moment(value: string): string {
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) throw new Error(`not a date or time: ${value}`)
  return date.toISOString()
}
