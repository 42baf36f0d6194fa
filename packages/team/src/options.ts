import { defined } from '@backoffice/contracts'
import { Argument, type Command, Option } from 'commander'
import { type Field, fieldsOf } from './fields.ts'
import type { AnyRow } from './row.ts'

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
