import { type TSchema, Type } from '@sinclair/typebox'
import type { TeamRole } from './team.ts'

/** What a field can tell about a person. docs/privacy.md says of each why it is kept, and for how long. */
export const personalKinds = {
  player: 'the id of a player, under which all else about the person is found',
  externalId: "the operator's own id of the person",
  name: 'name',
  cpf: 'CPF (Brazilian taxpayer number)',
  email: 'e-mail address',
  phone: 'telephone number',
  birthDate: 'date of birth',
  document: 'reference to an identity document',
  destination: 'where a withdrawal is paid to; a PIX key may be a CPF, an e-mail address or a telephone number',
  note: 'free text, in which somebody may have written about a person',
  staff: 'user name of a person of the team',
} as const
export type PersonalKind = keyof typeof personalKinds

// A symbol, so that no published document shows it. Copies of a schema keep it.
const mark = Symbol.for('backoffice.personal')

/** The same schema, marked as one whose values say something about a person. */
export const personal = <T extends TSchema>(kind: PersonalKind | readonly PersonalKind[], schema: T): T => ({
  ...schema,
  [mark]: [kind].flat(),
})

const marksOf = (schema: TSchema): readonly PersonalKind[] =>
  (schema as { readonly [mark]?: readonly PersonalKind[] })[mark] ?? []

/** Everything about persons that a value of this schema may say. A field named `playerId` needs no mark. */
export function personalKindsIn(schema: TSchema): ReadonlySet<PersonalKind> {
  const { properties = {}, items, anyOf = [] } = schema as Node
  const inside = [...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items])]
  return new Set([
    ...marksOf(schema),
    ...('playerId' in properties ? ['player' as const] : []),
    ...inside.flatMap((part) => [...personalKindsIn(part)]),
  ])
}

const hasOneOf = (schema: TSchema, kinds: readonly PersonalKind[]): boolean => {
  const found = personalKindsIn(schema)
  return kinds.some((kind) => found.has(kind))
}

/**
 * What is encrypted where it is stored, since alone it is enough to find a person, or to pay in a person's name. The team
 * finds players by CPF, e-mail and phone all the same, by keyed digests.
 */
export const sealedKinds: readonly PersonalKind[] = ['cpf', 'email', 'phone', 'destination']

/** What says who a person is. A record that is kept for good does not have it, since a player's data are not kept so. */
const identifyingKinds: readonly PersonalKind[] = [...sealedKinds, 'externalId', 'name', 'birthDate', 'document']

/** Whether a value of this schema says who somebody is. */
export const identifies = (schema: TSchema): boolean => hasOneOf(schema, identifyingKinds)

/** Whether a value of this schema must be encrypted where it is stored. */
export function hasSealed(schema: TSchema): boolean {
  let has = withSealed.get(schema)
  if (has === undefined) {
    has = hasOneOf(schema, sealedKinds)
    withSealed.set(schema, has)
  }
  return has
}

/** What was found out once. It is asked at every message. */
const withSealed = new WeakMap<TSchema, boolean>()

/** A text that was taken out of a value, with the names that lead to it. */
export type TakenOut = readonly [path: readonly string[], text: string]

/** A value of the schema without the texts that must be encrypted: empty ones stand in their places. */
export function takeOut(
  schema: TSchema,
  value: unknown,
): { readonly rest: unknown; readonly taken: readonly TakenOut[] } {
  const taken: TakenOut[] = []
  const take = (_kind: PersonalKind, text: unknown, path: readonly string[]) => {
    taken.push([path, String(text)])
    return ''
  }
  return { rest: replaced(schema, value, { kinds: sealedKinds, hasOne: hasSealed, replace: take }), taken }
}

interface Replacing<Kind extends PersonalKind> {
  readonly kinds: readonly Kind[]
  readonly hasOne: (schema: TSchema) => boolean
  readonly replace: (kind: Kind, value: unknown, path: readonly string[]) => unknown
}

/** A value of the schema in which everything of some kinds is replaced. */
function replaced<Kind extends PersonalKind>(
  schema: TSchema,
  value: unknown,
  replacing: Replacing<Kind>,
  path: readonly string[] = [],
): unknown {
  const { kinds, hasOne, replace } = replacing
  if (value === null || value === undefined || !hasOne(schema)) return value
  const marks = marksOf(schema)
  const kind = kinds.find((candidate) => marks.includes(candidate))
  if (kind !== undefined) return replace(kind, value, path)
  const { properties = {}, items, anyOf } = schema as Node
  // Only a value that may be null is a union here.
  if (anyOf !== undefined) return replaced(anyOf.find(hasOne) ?? Type.Null(), value, replacing, path)
  const inside = (part: TSchema | undefined, name: string, field: unknown) =>
    part === undefined ? field : replaced(part, field, replacing, [...path, name])
  if (items !== undefined) return (value as readonly unknown[]).map((item, index) => inside(items, String(index), item))
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, inside(properties[name], name, field)]))
}

/** The value again that texts were taken out of. */
export function putBack<T>(rest: T, taken: readonly TakenOut[]): T {
  const whole = structuredClone(rest)
  for (const [path, text] of taken) {
    const last = path.at(-1) ?? ''
    // biome-ignore lint/suspicious/noExplicitAny: the path leads through objects and lists
    const owner = path.slice(0, -1).reduce<any>((part, name) => part[name], whole)
    owner[last] = text
  }
  return whole
}

/** As much of JSON Schema as the tables of operations and events use. */
interface Node {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

const stars = (text: string) => '*'.repeat(text.length)

/**
 * How a value is shown to somebody who has not said why they need it. Enough is left to tell two persons apart. What is
 * masked already stays as it is.
 */
const masks = {
  cpf: (value) => stars(value.slice(0, -2)) + value.slice(-2),
  email: (value) => `${value.slice(0, 1)}***${value.slice(value.lastIndexOf('@'))}`,
  phone: (value) => stars(value.slice(0, -4)) + value.slice(-4),
  birthDate: (value) => `${value.slice(0, 4)}-**-**`,
  // A whole message may be marked as one that has a destination in it.
  destination: (value) => stars(value.slice(0, -2)).slice(0, 8) + value.slice(-2),
} as const satisfies Partial<Record<PersonalKind, (value: string) => string>>
type MaskableKind = keyof typeof masks

/** What everybody of the team reads masked. */
export const maskedKinds = ['cpf', 'email', 'phone', 'birthDate'] as const satisfies readonly MaskableKind[]
type MaskedKind = (typeof maskedKinds)[number]
const isMasked = (kind: PersonalKind): kind is MaskedKind => maskedKinds.some((masked) => masked === kind)

/** What is masked for somebody with these roles. A payment is made from its destination; support only reads along. */
export const maskedKindsFor = (roles: ReadonlySet<TeamRole>): readonly MaskableKind[] =>
  [...roles].every((role) => role === 'support') ? [...maskedKinds, 'destination'] : maskedKinds

/** An e-mail address may become longer by its stars. */
const maskedLengthMax: Readonly<Record<MaskedKind, number>> = { cpf: 14, email: 257, phone: 16, birthDate: 10 }

/** Whether a value of this schema has something that everybody reads masked. */
export const hasMasked = (schema: TSchema): boolean => hasOneOf(schema, maskedKinds)

/**
 * A schema of what the team reads: what is masked in it may have any form, since a masked CPF is no CPF. What has
 * nothing to mask is the same schema.
 */
export function maskable<T extends TSchema>(schema: T): T {
  if (!hasMasked(schema)) return schema
  const kind = marksOf(schema).find(isMasked)
  if (kind !== undefined) {
    const { description } = schema
    const options = { maxLength: maskedLengthMax[kind], ...(description === undefined ? {} : { description }) }
    return personal(marksOf(schema), Type.String(options)) as unknown as T
  }
  const { properties, items, anyOf } = schema as Node
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: mapped(properties) }),
    ...(items === undefined ? {} : { items: maskable(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(maskable) }),
  }
}

const mapped = (properties: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, maskable(schema)]))

export const masked = (schema: TSchema, value: unknown, kinds: readonly MaskableKind[] = maskedKinds): unknown =>
  replaced(schema, value, {
    kinds,
    hasOne: (part) => hasOneOf(part, kinds),
    replace: (kind, text) => (typeof text === 'string' ? masks[kind](text) : text),
  })
