import {
  FormatRegistry,
  type StringOptions,
  type TLiteral,
  type TNull,
  type TObject,
  type TProperties,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from '@sinclair/typebox'
import { formats } from './formats.ts'

for (const [name, { has }] of Object.entries(formats)) FormatRegistry.Set(name, has)

interface ObjectOptions {
  readonly $id?: string
  readonly description?: string
}

declare const kind: unique symbol

/**
 * The id of one kind of record. A text is taken for one, but the id of another kind is not. So what a schema or a row has
 * named cannot be swapped.
 */
export type IdOf<Kind extends IdKind> = string & { readonly [kind]?: Kind }
type IdKind = 'operator' | 'brand' | 'player' | 'provider' | 'deposit' | 'withdrawal' | 'transfer' | 'round'

/** A field named `playerId` has the id of a player, and so on: it needs no mark. */
type WithIds<Fields extends TProperties> = {
  [Name in keyof Fields]: Name extends `${infer Kind extends IdKind}Id` ? IdSchema<Fields[Name], Kind> : Fields[Name]
}
type IdSchema<Schema extends TSchema, Kind extends IdKind> = Schema extends TString
  ? Schema & { static: IdOf<Kind> }
  : Schema extends TUnion<[TString, TNull]>
    ? Schema & { static: IdOf<Kind> | null }
    : Schema

/** An object that has no other fields than those it names. */
export const object = <Fields extends TProperties>(fields: Fields, options: ObjectOptions = {}) =>
  Type.Object(fields, { additionalProperties: false, ...options }) as TObject as TObject<WithIds<Fields>>

/** The same with a name, under which documents and clients have it. */
export const named = <Fields extends TProperties>($id: string, fields: Fields) => object(fields, { $id })

/** And with what it is. */
export const record = <Fields extends TProperties>($id: string, description: string, fields: Fields) =>
  object(fields, { $id, description })

type Literals<T extends readonly string[]> = { -readonly [K in keyof T]: TLiteral<T[K]> }

/** One of the given words. `meanings` says what each of them means to whoever reads or writes it. */
export const oneOf = <const T extends readonly string[]>(
  values: T,
  { meanings, ...options }: { $id?: string; description?: string; meanings?: Readonly<Record<T[number], string>> } = {},
): TUnion<Literals<T>> => {
  const literal = (value: T[number]) =>
    Type.Literal(value, meanings === undefined ? {} : { description: meanings[value] })
  return Type.Union(values.map(literal) as TLiteral<string>[], options) as unknown as TUnion<Literals<T>>
}

export const Nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

/** A text of at most so many characters. All that is stored is bounded, so every text in a reply or an event is. */
export const text = (maxLength: number, options: { description?: string; pattern?: string } = {}) =>
  Type.String({ maxLength, ...options })

/**
 * A page of a list of the team's. It has at most as many rows as were asked for, and fewer when their texts are long.
 * `nextCursor` is where the next page begins; null means that there is none.
 */
export const pageOf = <R extends TSchema>(row: R) =>
  object({ data: Type.Array(row, { maxItems: 1_000 }), nextCursor: Nullable(text(256)) })

/** At most so many objects, of these fields. */
export const arrayOf = <Fields extends TProperties>(maxItems: number, fields: Fields) =>
  Type.Array(object(fields), { maxItems })

/** The reply of a list that is whole: it has all its rows. */
export const listOf = <Fields extends TProperties>(maxItems: number, fields: Fields) =>
  object({ data: arrayOf(maxItems, fields) })

/** The same schema with another description, for the place where it is used. */
export const described = <T extends TSchema>(schema: T, description: string): T => ({ ...schema, description })

/** A field that may be left out, and what it says. */
export const optional = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(described(schema, description))

const linePattern = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
const linesPattern = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$'

/**
 * One line of text in a request: a name, a label, a reference, a destination. It has no control characters (C0, DEL,
 * C1), with which it could move a terminal's cursor, or look like two rows of a list, for whoever reads it later.
 */
export const Line = (options: StringOptions) => Type.String({ ...options, pattern: linePattern })

/**
 * Sentences in a request: a reason. Tabs and line ends are allowed, because a reason may be copied from a payment
 * provider's message, and refusing it would leave a deposit pending for the sake of a line end.
 */
export const Lines = (options: StringOptions) => Type.String({ ...options, pattern: linesPattern })

/** What a caller reads in place of such a pattern. */
export const patternMessages: Readonly<Record<string, string>> = {
  [linePattern]: 'must have no control characters',
  [linesPattern]: 'must have no control characters but tabs and line ends',
}

/** As much of JSON Schema as what the team sends and reads uses. */
export interface FieldSchema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly description?: string
  readonly const?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly FieldSchema[]
  readonly items?: FieldSchema
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
}

export const takesNull = ({ anyOf = [] }: FieldSchema): boolean => anyOf.some(({ type }) => type === 'null')

/** The schema of what is there when it is not null. */
export function valueSchema(schema: FieldSchema): FieldSchema {
  if (!takesNull(schema)) return schema
  const [first = {}, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null')
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}

/** The values of which a field takes one; none for a field that takes others. */
export const choicesOf = ({ anyOf = [] }: FieldSchema): readonly string[] =>
  anyOf.flatMap((choice) => choice.const ?? [])
