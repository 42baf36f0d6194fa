import { type TLiteral, type TSchema, type TUnion, Type } from '@sinclair/typebox'

/** The options of an object that has no other fields than those it names. */
export const closed = { additionalProperties: false } as const

type Literals<T extends readonly string[]> = { -readonly [K in keyof T]: TLiteral<T[K]> }

/** One of the given words. */
export const oneOf = <const T extends readonly string[]>(
  values: T,
  options: { description?: string } = {},
): TUnion<Literals<T>> =>
  Type.Union(values.map((value) => Type.Literal(value)) as TLiteral<string>[], options) as unknown as TUnion<
    Literals<T>
  >

export const Nullable = <T extends TSchema>(schema: T, options: { description?: string } = {}) =>
  Type.Union([schema, Type.Null()], options)

/** The same schema with another description, for the place where it is used. */
export const described = <T extends TSchema>(schema: T, description: string): T => ({ ...schema, description })
