import {
  choicesOf,
  defined,
  type FieldSchema,
  type Input,
  type Operation,
  operations,
  type Reply,
  Timestamp,
  takesNull,
  valueSchema,
} from '@backoffice/contracts'
import { type List, type Listed, textColumns } from '@backoffice/team-rows'
import { Argument, type Command, Option } from 'commander'
import type { Column } from './output.ts'
import type { Session } from './session.ts'

/** What the `run` of a row gets. */
export interface Work<O extends Operation, Seen = undefined> {
  readonly session: Session
  readonly input: Input<O>
  /** What the row's `look` has read. */
  readonly seen: Seen
  readonly operationId: string | undefined
  /** Whether the result is printed as JSON, so that nothing else may be printed. */
  readonly json: boolean
}

type NameIn<O> = keyof Input<O> & string
type RowOf<Result> = Result extends { readonly data: readonly (infer Element)[] } ? Element : never

/**
 * One command of the team. The fields of its operation's body are its options, except those that are given by position
 * or fixed by the command.
 */
export interface Row<O extends Operation, Result = Reply<O>, Seen = undefined> {
  /** The words that are typed: the group, then what to do. */
  readonly path: `${string} ${string}`
  readonly operation: O
  /** For --help, instead of the operation's own summary. */
  readonly description?: string
  /** Fields that are given by position, in this order. */
  readonly arguments?: readonly NameIn<O>[]
  /** Fields that are given by position, after the others, or as options. */
  readonly either?: readonly NameIn<O>[]
  /** Fields whose value the command fixes; undefined leaves a field out. */
  readonly fixed?: { readonly [F in NameIn<O>]?: Input<O>[F] | undefined }
  readonly wording?: { readonly [F in NameIn<O>]?: Wording }
  /** Options that give fields a value of their own. */
  readonly switches?: readonly { readonly flags: string; readonly help: string; readonly gives: Partial<Input<O>> }[]
  /**
   * Reads what the command is about, once: what the question says is what is sent, as `seen` or by `run`. Without it, `seen` is
   * read and said as the table has it. A service that says something else the
   * next time has nobody's signature for it. An operator is still a name here.
   */
  readonly look?: (given: Input<O>, session: Session) => Promise<Seen>
  /** The question that is asked before anything is changed. */
  readonly confirm?: (given: Input<O>, seen: Seen) => string
  /** Runs instead of a single call of the operation. */
  readonly run?: (work: Work<O, Seen>) => Promise<Result>
  /** Other operations that `run` calls. */
  readonly also?: readonly Operation[]
  /** For a list: only `data` is printed, and for people in these columns. */
  readonly columns?: readonly Column<RowOf<Result>>[]
  /** Whether it prints its rows itself, with the names of whom they are about. */
  readonly isNamed?: true
  /** Prints a result that is no list, for people. Without it, one line per field is printed. */
  readonly show?: (result: Result) => void
}

export type AnyRow = Row<Operation, unknown, unknown>

/** Checks a row against its operation. */
export const row = <O extends Operation, Result = Reply<O>, Seen = undefined>(row: Row<O, Result, Seen>) =>
  row as unknown as AnyRow

/** The command of a list that the console shows too. */
export const listed = <O extends Operation, Shown = Listed<O>, Result = { readonly data: readonly Shown[] }>(
  list: List<O, Shown>,
  more: Omit<Row<O, Result>, 'path' | 'operation' | 'columns'> = {},
): AnyRow =>
  ({
    ...{ path: list.command, operation: list.operation, columns: textColumns(list), ...more },
    also: [...(more.also ?? []), operations.players.namePlayers],
  }) as unknown as AnyRow

/** How a field is presented where its name and schema do not serve. */
export interface Wording {
  /** As commander takes them: `--rate-limit <n>`. */
  readonly flags?: string
  readonly help?: string
  readonly default?: unknown
  readonly parse?: Parse
  /** For a filter: a choice of this name leaves it out. */
  readonly none?: string
}

/** A field of an operation's body, and how a person gives it. */
export interface Field extends Required<Omit<Wording, 'none'>>, Pick<Wording, 'none'> {
  readonly name: string
  readonly choices: readonly string[]
  readonly required: boolean
  readonly nullable: boolean
}

/** Fields that the command line calls by another name than the operations do, in all commands. */
export const wordings: Readonly<Record<string, Wording>> = {
  operatorId: { flags: '--operator <name>', help: 'name or id of the operator' },
  brandId: { flags: '--operator <name>', help: 'name or id of the operator' },
  providerId: { flags: '--provider <name>', help: 'name or id of the provider' },
  environment: { flags: '--env <environment>' },
  playerId: { flags: '--player <playerId>', help: 'id of the player' },
  rateLimitPerMinute: { flags: '--rate-limit <n>' },
  storedMebibytesPerDay: { flags: '--storage <n>' },
  storedRowsPerDay: { flags: '--rows <n>' },
  allowedAddresses: { flags: '--allow-ip <cidr...>' },
  dailyDepositLimit: { flags: '--amount <amount>', help: 'for example 200.00, or none' },
  states: { flags: '--state <state...>' },
  ratePerMinute: { flags: '--rate <n>' },
  overlapHours: {
    flags: '--overlap <duration>',
    help: 'such as 24h, 30m, or 0 after a leak',
    parse: hours,
    default: 24,
  },
  limit: { help: 'at most', default: 50 },
  before: { flags: '--before <id>' },
  after: { flags: '--after <id>' },
}

/** An operator is named by its id here, so a brand by that and the environment. Sandbox records would hide those of production. */
export const ofAllOperators = {
  fixed: { brandId: undefined },
  wording: { environment: { default: 'production', none: 'all' } },
} as const

/** Both are shown, each on lines of its own, unless one is asked for. */
export const countedEnvironment = { environment: { help: 'only this one; both when absent' } } as const
/** How long decisions of a day took. */
export const decisionColumns = [
  'day',
  'decided',
  ['median seconds', 'medianSeconds'],
  ['90th seconds', 'p90Seconds'],
] as const
export const waitingColumns = ['environment', 'waiting', ['oldest since', 'oldestAt']] as const

/** The environment of a brand. People name a brand by its operator and its environment. */
const environment: FieldSchema = { anyOf: [{ const: 'sandbox' }, { const: 'production' }] }

/** The fields that a person gives, in the order of the body. */
export function fieldsOf({ operation, fixed = {}, wording = {} }: AnyRow): readonly Field[] {
  const { properties = {}, required = [] } = operation.body as FieldSchema
  const ofBrand = 'brandId' in properties && !('environment' in properties) ? { environment } : {}
  return Object.entries<FieldSchema>({ ...properties, ...ofBrand })
    .filter(([name]) => name !== 'seen' && !(name in fixed))
    .map(([name, schema]) => {
      const isRequired = required.includes(name) || name in ofBrand
      const usual = name === 'environment' && isRequired ? { default: 'production' } : {}
      const own = (wording as Readonly<Record<string, Wording>>)[name]
      return fieldOf(name, schema, { required: isRequired, ...usual, ...wordings[name], ...own })
    })
}

function fieldOf(name: string, schema: FieldSchema, words: Wording & { readonly required: boolean }): Field {
  const value = oneOfSchema(schema)
  const nullable = takesNull(schema)
  const flags = words.flags ?? flagsOf(name, value, schema.items !== undefined)
  const choices = [...choicesOf(value), ...(words.none === undefined ? [] : [words.none])]
  const known = parserOf(flags.split(' ')[0] ?? '', value, choices)
  const parse: Parse = nullable ? (value) => (value === 'none' ? null : known(value)) : known
  return { default: undefined, parse, help: helpOf(schema), ...words, name, flags, choices, nullable }
}

/** The schema of one value: no list, and not null. */
const oneOfSchema = (schema: FieldSchema): FieldSchema => valueSchema(schema.items ?? schema)

function flagsOf(name: string, { type, format }: FieldSchema, isList: boolean): string {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  if (type === 'boolean') return flag
  const value = type === 'integer' ? 'n' : format === 'date-time' ? 'time' : name
  return `${flag} <${value}${isList ? '...' : ''}>`
}

function parserOf(flag: string, { type, format }: FieldSchema, choices: readonly string[]): Parse {
  if (choices.length > 0) return oneOf(flag, choices)
  if (type === 'integer') return integer(flag)
  return format === 'date-time' ? moment : (value) => value
}

/** A sentence of the contract as commander's users expect it: no capital, no full stop. */
function helpOf(schema: FieldSchema): string {
  const { description = '' } = schema
  const sentence = description.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()).replace(/\.$/, '')
  if (oneOfSchema(schema).format !== 'date-time') return sentence
  // People may write less than the contract asks for.
  const time = 'date or ISO 8601 time'
  return description === '' || description === Timestamp.description ? time : `${time}; ${sentence}`
}

/** The values of a command's fields: those that were given and those that the command fixes. */
export type GivenOptions = Readonly<Record<string, unknown>>

/**
 * Declares the arguments and options of a row.
 * @returns a function that reads what was given; an operator is still a name
 */
export function declareFields(command: Command, row: AnyRow): () => GivenOptions {
  const { arguments: needed = [], either = [], switches = [] } = row
  const fields = fieldsOf(row)
  const byPosition = [...needed, ...either].flatMap((name) => fields.filter((field) => field.name === name))
  for (const field of byPosition) command.addArgument(asArgument(field, either.includes(field.name)))
  for (const field of fields) {
    if (!needed.includes(field.name)) command.addOption(asOption(field, either.includes(field.name)))
  }
  for (const { flags, help } of switches) command.option(flags, help)
  const option = (flags: string) => command.getOptionValue(new Option(flags).attributeName())
  const readField = (field: Field) => {
    const said = [command.processedArgs[byPosition.indexOf(field)], option(field.flags)]
    const value = said.find((value) => value !== undefined)
    // Not in the field's parser: commander takes no undefined from one.
    if (value !== undefined && value === field.none) return undefined
    return value ?? absent(field)
  }
  return () => {
    const given = Object.fromEntries(fields.map((field) => [field.name, readField(field)]))
    const switched = switches.filter(({ flags }) => option(flags) === true).map(({ gives }) => gives)
    return defined(Object.assign({ ...row.fixed }, given, ...switched))
  }
}

/** The value of a field that was not given. A field that may come by position or as an option can still be required. */
function absent({ required, nullable, flags }: Field): null | undefined {
  if (!required) return undefined
  if (nullable) return null
  throw new Error(`${flags} is required`)
}

function asArgument({ flags, help, choices, parse }: Field, optional: boolean): Argument {
  const [, shown = ''] = /<(.*)>/.exec(flags) ?? []
  const argument = new Argument(optional ? `[${shown}]` : `<${shown}>`, help)
  if (choices.length > 0) argument.argChoices = [...choices]
  return argument.argParser(parse)
}

function asOption(field: Field, either: boolean): Option {
  const { flags, help, choices, parse, required, nullable } = field
  const option = new Option(flags, help).default(field.default)
  if (choices.length > 0) option.argChoices = [...choices]
  option.argParser((value, before) =>
    option.variadic ? [...((before as unknown[]) ?? []), parse(value)] : parse(value),
  )
  return option.makeOptionMandatory(required && !nullable && !either && field.default === undefined)
}

/**
 * Turns what a person types into what an operation takes.
 * @throws a sentence that says what is wrong
 */
export type Parse = (value: string) => unknown

export const integer =
  (flag: string): Parse =>
  (value) => {
    if (!/^\d+$/.test(value)) throw new Error(`${flag} takes a whole number, not ${value}`)
    return Number(value)
  }

const alternatives = new Intl.ListFormat('en', { type: 'disjunction' })

export const oneOf =
  (flag: string, choices: readonly string[]): Parse =>
  (value) => {
    if (!choices.includes(value)) throw new Error(`${flag} takes ${alternatives.format(choices)}, not ${value}`)
    return value
  }

/** A moment as people write it: a date, which means its midnight UTC, or any ISO 8601 time. */
export function moment(value: string): string {
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) throw new Error(`not a date or time: ${value}`)
  return date.toISOString()
}

const unitHours: Readonly<Record<string, number>> = { '': 1, h: 1, m: 1 / 60, d: 24 }

export function hours(value: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([hmd]?)$/.exec(value) ?? []
  if (count === undefined) throw new Error(`a duration is such as 24h or 30m, not ${value}`)
  return Number(count) * (unitHours[unit] ?? 1)
}
