import { Deposit, Kyc, Player, type Tag, Withdrawal } from '@backoffice/contracts'
import type { TObject, TSchema } from '@sinclair/typebox'

/** A record that several operations reply with. It is described once, before the operations of its group. */
export interface SharedRecord {
  readonly tag: Tag
  readonly title: string
  readonly id: string
  readonly schema: TObject
}

export const sharedRecords: readonly SharedRecord[] = [
  { tag: 'Players', title: 'The player', id: 'record-player', schema: Player },
  { tag: 'KYC', title: 'The identity check', id: 'record-kyc', schema: Kyc },
  { tag: 'Deposits', title: 'The deposit', id: 'record-deposit', schema: Deposit },
  { tag: 'Withdrawals', title: 'The withdrawal', id: 'record-withdrawal', schema: Withdrawal },
]

const linkTo = ({ id, title }: SharedRecord) => `[${title.replace('The', 'the')}](#${id})`

/** The record that a schema is, or has all fields of. */
function recordIn({ properties }: TObject): SharedRecord | undefined {
  return sharedRecords.find(({ schema }) => Object.keys(schema.properties).every((name) => name in properties))
}

/** Where a table stands: a request may leave fields out, a reply has them all. */
type Direction = 'request' | 'reply'

/**
 * The tables of fields of one page. Values of an enumeration with a name are explained where they come first; later
 * tables link there.
 */
export class FieldTables {
  readonly #explained = new Set<string>()

  record({ schema }: SharedRecord): string {
    return this.#table('Field', schema, 'reply')
  }

  /** What is in a reply or an event: a shared record by its name, and a table of what else there is. */
  reply(schema: TSchema): string {
    if (schema.type !== 'object') return ''
    const object = schema as TObject
    const record = recordIn(object)
    if (record === undefined) return this.#table('Field', object, 'reply')
    const own = Object.entries(object.properties).filter(([name, field]) => field !== record.schema.properties[name])
    if (own.length === 0) return `[${record.title}](#${record.id}).`
    const rest = { ...object, properties: Object.fromEntries(own) } as TObject
    return `The fields of ${linkTo(record)}, and:\n\n${this.#table('Field', rest, 'reply')}`
  }

  request(title: string, schema: TObject): string {
    return this.#table(title, schema, 'request')
  }

  /** The `details` of an error. */
  details(schema: TSchema): string {
    return this.#table('Details', schema as TObject, 'reply')
  }

  #table(title: string, schema: TObject, direction: Direction): string {
    const rows = this.#rows(schema, direction, '')
    return rows.length === 0 ? '' : `| ${title} | Type | Meaning |\n|---|---|---|\n${rows.join('\n')}`
  }

  /** A row for each field. The fields of an inner object, or of the items of a list, follow with their whole path. */
  #rows(schema: TObject, direction: Direction, prefix: string): string[] {
    return Object.entries(schema.properties as Record<string, TSchema>).flatMap(([name, field]) => {
      const { inner, nullable } = withoutNull(field)
      const path = prefix + name
      const isOptional = direction === 'request' && !schema.required?.includes(name)
      const type = [typeOf(inner), ...(nullable ? ['or null'] : [])].join(' ') + (isOptional ? ', optional' : '')
      const row = `| \`${path}\` | ${type} | ${this.#meaning(inner, direction).replaceAll('|', '\\|')} |`
      const item = inner.type === 'array' ? (inner.items as TSchema) : inner
      if (item.type !== 'object' || recordIn(item as TObject) !== undefined) return [row]
      return [row, ...this.#rows(item as TObject, direction, inner.type === 'array' ? `${path}[].` : `${path}.`)]
    })
  }

  #meaning(schema: TSchema, direction: Direction): string {
    const { description, $id, items } = schema
    const record = items?.type === 'object' ? recordIn(items) : undefined
    const said = [
      description ?? items?.description ?? '',
      ...(direction === 'request' ? limitsOf(schema) : []),
      ...(record === undefined ? [] : [`Each as ${linkTo(record)}.`]),
    ].filter((part) => part !== '')
    return `${said.join(' ')}${this.#values(schema, $id)}`
  }

  /** Each value of an enumeration with its meaning. */
  #values({ anyOf, const: only }: TSchema, name: string | undefined): string {
    if (only !== undefined) return ` Always \`${only}\`.`
    if (anyOf === undefined) return ''
    if (name !== undefined && this.#explained.has(name)) return ` [Its values](#${valuesId(name)}).`
    if (name !== undefined) this.#explained.add(name)
    const meanings = meaningsOf(anyOf)
    if (meanings.length === 0) return ` One of ${anyOf.map((value: TSchema) => `\`${value.const}\``).join(', ')}.`
    const items = meanings.map((line) => `<li>${line.slice(2)}</li>`)
    return `<ul class="values"${name === undefined ? '' : ` id="${valuesId(name)}"`}>${items.join('')}</ul>`
  }
}

/** KycStatus → values-kycstatus */
const valuesId = (name: string) => `values-${name.toLowerCase()}`

function withoutNull(schema: TSchema): { readonly inner: TSchema; readonly nullable: boolean } {
  const members: readonly TSchema[] = schema.anyOf ?? []
  const [first, second] = members
  if (members.length !== 2 || first === undefined || second?.type !== 'null') return { inner: schema, nullable: false }
  return { inner: first, nullable: true }
}

function typeOf({ type, format, items, anyOf, pattern }: TSchema): string {
  if (anyOf !== undefined) return 'string'
  if (type === 'array') return `list of ${items.type === 'object' ? 'objects' : `${items.type}s`}`
  if (type !== 'string') return String(type)
  if (format === 'date-time') return 'string (time)'
  if (format === 'date') return 'string (date)'
  return format === 'amount' || pattern === moneyForm ? 'string (money)' : 'string'
}

const moneyForm = Deposit.properties.amount.pattern

/** The limits of a request's field in words, so that nobody has to read a schema to fill a form. */
function limitsOf(schema: TSchema): string[] {
  const {
    minLength,
    maxLength,
    minimum,
    maximum,
    default: fallback,
  }: JsonSchema = new SchemaComponents().publish(schema)
  const words: string[] = []
  if (minLength !== undefined) words.push(`${minLength} to ${maxLength} characters.`)
  else if (maxLength !== undefined) words.push(`At most ${maxLength} characters.`)
  if (minimum !== undefined) words.push(`${minimum} to ${maximum}.`)
  if (fallback !== undefined) words.push(`Default ${fallback}.`)
  return words
}

export type JsonSchema = Record<string, unknown>

/** Formats that only our own validator knows, and what a reader of the schema is told instead. */
const publishedFormats: Readonly<Record<string, JsonSchema>> = {
  amount: {},
  visible: {},
  cpf: { pattern: '^(\\d{11}|\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2})$' },
}

/** What each value of an enumeration means, as the lines of a Markdown list. */
const meaningsOf = (members: readonly TSchema[]): string[] =>
  members.flatMap(({ const: value, description }) =>
    description === undefined ? [] : [`- \`${value}\`: ${description}`],
  )

/** Whether an object may have fields that are not named. */
type Extent = 'open' | 'closed'

/** Collects named schemas (those with `$id`) so that a document states each of them once. */
export class SchemaComponents {
  readonly schemas: Record<string, JsonSchema> = {}
  readonly examples: Record<string, JsonSchema> = {}
  readonly responses: Record<string, JsonSchema> = {}
  readonly #descriptions = new Map<string, string | undefined>()
  readonly #extents = new Map<string, Extent>()

  /**
   * The schema as a document shows it: a reference when it has a name, with unions of literals written as `enum`. The schemas
   * of the contracts are closed, so that a test finds a field that nobody wrote down.
   * @param extent `open` for replies and events, which may gain fields at any time
   * @throws when a named object would be both
   */
  publish(schema: TSchema, extent: Extent = 'closed'): JsonSchema {
    const name = schema.$id
    if (name === undefined) return this.#inline(schema, extent)
    if (!(name in this.schemas)) {
      this.schemas[name] = {}
      this.#descriptions.set(name, schema.description)
      this.#extents.set(name, extent)
      this.schemas[name] = this.#inline(schema, extent)
    }
    if (schema.properties !== undefined && this.#extents.get(name) !== extent)
      throw new Error(`${name} is of a request and of a reply`)
    // A place may describe it in words of its own, for example as the status before.
    const own = schema.description === this.#descriptions.get(name) ? {} : { description: schema.description }
    return { $ref: `#/components/schemas/${name}`, ...own }
  }

  /** A named schema that is no schema of the contracts, but made of some. */
  add(name: string, make: () => JsonSchema): { readonly $ref: string } {
    this.schemas[name] ??= make()
    return { $ref: `#/components/schemas/${name}` }
  }

  #inline(schema: TSchema, extent: Extent): JsonSchema {
    const { $id: _, anyOf, properties, items, format, ...rest } = schema as JsonSchema & { anyOf?: TSchema[] }
    const out: JsonSchema = { ...rest }
    if (extent === 'open' && out.additionalProperties === false) delete out.additionalProperties
    if (typeof format === 'string') Object.assign(out, publishedFormats[format] ?? { format })
    if (anyOf !== undefined) Object.assign(out, this.#union(anyOf, { description: out.description, extent }))
    if (items !== undefined) out.items = this.publish(items as TSchema, extent)
    if (properties !== undefined) {
      out.properties = Object.fromEntries(
        Object.entries(properties as Record<string, TSchema>).map(([key, value]) => [key, this.publish(value, extent)]),
      )
    }
    return out
  }

  #union(members: TSchema[], { description, extent }: { description: unknown; extent: Extent }): JsonSchema {
    if (members.every((member) => member.const !== undefined)) {
      const values = { type: 'string', enum: members.map((member) => member.const) }
      const meanings = meaningsOf(members)
      // Few tools read descriptions of values anywhere else.
      return meanings.length === 0
        ? values
        : { ...values, description: [description ?? [], ...meanings].flat().join('\n') }
    }
    const published = members.map((member) => this.publish(member, extent))
    const [first, second] = published
    const nullable = published.length === 2 && second?.type === 'null'
    if (nullable && typeof first?.type === 'string') {
      const withNull: JsonSchema = { ...first, type: [first.type, 'null'] }
      if (Array.isArray(first.enum)) withNull.enum = [...first.enum, null]
      return withNull
    }
    return { anyOf: published }
  }
}
