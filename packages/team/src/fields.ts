import { choicesOf, type FieldSchema, Timestamp, takesNull, valueSchema } from '@backoffice/contracts'
import { hours, integer, moment, oneOf, type Parse } from './options.ts'
import type { AnyRow } from './row.ts'

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
