import { FormatRegistry, type TSchema } from '@sinclair/typebox'

const prefix = 'characters'

/**
 * The same schema, with the lengths of strings counted in code points, as JSON Schema does. The compiler counts UTF-16
 * units, of which 😀 has two, so it would refuse what the published documents allow. Formats take ASCII only, where both
 * counts agree.
 */
export function countingCodePoints<T extends TSchema>(schema: T): T {
  return convert(schema) as T
}

function convert(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convert)
  if (typeof node !== 'object' || node === null) return node
  // Symbols are copied too: the compiler tells the kinds of schemas by them.
  const copy: Record<PropertyKey, unknown> = { ...node }
  for (const [key, value] of Object.entries(node)) copy[key] = convert(value)
  const { type, format, minLength, maxLength } = copy
  if (type !== 'string' || format !== undefined || (minLength === undefined && maxLength === undefined)) return copy
  delete copy.minLength
  delete copy.maxLength
  return { ...copy, format: lengthFormat(Number(minLength ?? 0), Number(maxLength ?? Number.POSITIVE_INFINITY)) }
}

function lengthFormat(min: number, max: number): string {
  const name = `${prefix}:${min}:${max}`
  if (!FormatRegistry.Has(name)) FormatRegistry.Set(name, (value) => hasLength(value, min, max))
  return name
}

function hasLength(value: string, min: number, max: number): boolean {
  // A code point is one unit or two: most strings need no counting.
  if (value.length < min || value.length > 2 * max) return false
  if (value.length >= 2 * min && value.length <= max) return true
  const length = [...value].length
  return length >= min && length <= max
}

/** What a caller reads when such a string is too short or too long; undefined for any other format. */
export function lengthMessage(format: string): string | undefined {
  const [kind, min, max] = format.split(':')
  if (kind !== prefix) return undefined
  if (max === 'Infinity') return `must have at least ${min} characters`
  return min === '0' ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`
}
