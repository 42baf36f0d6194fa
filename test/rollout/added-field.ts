import { type TSchema, Type } from '@sinclair/typebox'
import { Check } from '@sinclair/typebox/value'

// A part of the next release that next-release.ts makes: it stands in the contracts of that copy, and is not used from
// here.

const fieldName = 'addedByTheNextRelease'
const added = 'a value'

const extended = new WeakMap<object, object>()

/** The schema with one more optional field in each of its closed objects, at any depth. */
export function withField<T extends TSchema>(schema: T): T {
  const known = extended.get(schema)
  if (known !== undefined) return known as T
  // Symbols are copied too: the compiler tells the kinds of schemas by them.
  const copy: Record<PropertyKey, unknown> = { ...(schema as object) }
  for (const [key, value] of Object.entries(schema)) copy[key] = extendedPart(value)
  if (schema.type === 'object' && schema.additionalProperties === false) {
    const properties = copy.properties as Record<string, TSchema>
    copy.properties = { ...properties, [fieldName]: Type.Optional(Type.String()) }
  }
  extended.set(schema, copy)
  return copy as T
}

function extendedPart(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(extendedPart)
  if (typeof part !== 'object' || part === null) return part
  return withField(part as TSchema)
}

/** A value with the field in each object whose schema has it. */
export function filled(schema: TSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (schema.items === undefined ? item : filled(schema.items, item)))
  if (schema.anyOf !== undefined) {
    const member = schema.anyOf.find((one: TSchema) => Check(one, value))
    return member === undefined ? value : filled(member, value)
  }
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return value
  const properties: Record<string, TSchema> = schema.properties
  const entries = Object.entries(value).map(([key, item]) => {
    const property = properties[key]
    return [key, property === undefined ? item : filled(property, item)]
  })
  return { ...Object.fromEntries(entries), ...(fieldName in properties ? { [fieldName]: added } : {}) }
}

/** The scope of a call has no schema at hand where it is sent. */
export const filledScope = (scope: object | undefined) => scope && { ...scope, [fieldName]: added }

export const hasField = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Reflect.get(value, fieldName) === added

/** Says in a call's headers that its caller is of the next release. */
export const callerHeader = 'Next-Release'

interface Called {
  readonly service: string
  readonly id: string
}

/** What processes of both releases sent each other, as far as the next release can see it. */
export const seen = {
  /** Operations that the next release called and this one answered. */
  answeredByThis: new Set<string>(),
  /** Operations that this release called and the next one answered. */
  askedByThis: new Set<string>(),
  /** Ids of the events that the next release read, and whether it had written them. */
  events: new Map<string, boolean>(),

  reply({ service, id }: Called, reply: unknown): void {
    if (!hasField(reply)) this.answeredByThis.add(`${service}.${id}`)
  },
  call({ service, id }: Called, callerIsNext: boolean): void {
    if (!callerIsNext) this.askedByThis.add(`${service}.${id}`)
  },
  event({ id, data }: { readonly id: string; readonly data: unknown }): void {
    this.events.set(id, hasField(data))
  },
}
