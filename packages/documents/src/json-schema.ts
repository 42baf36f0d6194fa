import type { TSchema } from '@sinclair/typebox'

export type JsonSchema = Record<string, unknown>

/** Formats that only our own validator knows, and what a reader of the schema is told instead. */
const publishedFormats: Readonly<Record<string, JsonSchema>> = {
  amount: {},
  cpf: { pattern: '^(\\d{11}|\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2})$' },
}

/** What each value of an enumeration means, as the lines of a Markdown list. */
export const meaningsOf = (members: readonly TSchema[]): string[] =>
  members.flatMap(({ const: value, description }) =>
    description === undefined ? [] : [`- \`${value}\`: ${description}`],
  )

/** Collects named schemas (those with `$id`) so that a document states each of them once. */
export class SchemaComponents {
  readonly schemas: Record<string, JsonSchema> = {}
  readonly examples: Record<string, JsonSchema> = {}
  readonly #descriptions = new Map<string, string | undefined>()

  /** The schema as a document shows it: a reference when it has a name, with unions of literals written as `enum`. */
  publish(schema: TSchema): JsonSchema {
    const name = schema.$id
    if (name === undefined) return this.#inline(schema)
    if (!(name in this.schemas)) {
      this.schemas[name] = {}
      this.#descriptions.set(name, schema.description)
      this.schemas[name] = this.#inline(schema)
    }
    // A place may describe it in words of its own, for example as the status before.
    const own = schema.description === this.#descriptions.get(name) ? {} : { description: schema.description }
    return { $ref: `#/components/schemas/${name}`, ...own }
  }

  /** A named schema that is no schema of the contracts, but made of some. */
  add(name: string, make: () => JsonSchema): { readonly $ref: string } {
    this.schemas[name] ??= make()
    return { $ref: `#/components/schemas/${name}` }
  }

  #inline(schema: TSchema): JsonSchema {
    const { $id: _, anyOf, properties, items, format, ...rest } = schema as JsonSchema & { anyOf?: TSchema[] }
    const out: JsonSchema = { ...rest }
    if (typeof format === 'string') Object.assign(out, publishedFormats[format] ?? { format })
    if (anyOf !== undefined) Object.assign(out, this.#union(anyOf, out.description))
    if (items !== undefined) out.items = this.publish(items as TSchema)
    if (properties !== undefined) {
      out.properties = Object.fromEntries(
        Object.entries(properties as Record<string, TSchema>).map(([key, value]) => [key, this.publish(value)]),
      )
    }
    return out
  }

  #union(members: TSchema[], description: unknown): JsonSchema {
    if (members.every((member) => member.const !== undefined)) {
      const values = { type: 'string', enum: members.map((member) => member.const) }
      const meanings = meaningsOf(members)
      // Few tools read descriptions of values anywhere else.
      return meanings.length === 0
        ? values
        : { ...values, description: [description ?? [], ...meanings].flat().join('\n') }
    }
    const published = members.map((member) => this.publish(member))
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
