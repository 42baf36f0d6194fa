import { validate } from '@backoffice/rpc'
import type { TSchema } from '@sinclair/typebox'

/** Characters from the heaviest in JSON to the lightest: an escaped one, one of 4 bytes, a quotation mark, a plain one. */
const characters = ['\u0001', '😀', '"', 'A', '1', 'a']

/** Long values of the patterns and formats that no repeated character fits. */
const samples = [
  '2026-03-02T12:00:00.000Z',
  '2026-03-02',
  '529.982.247-25',
  '52998224725',
  '9999999999999.99',
  '-9999999999999.99',
  `-${'9'.repeat(36)}.99`,
  '+551198765432101',
  `${'a'.repeat(64)}@${`${'b'.repeat(61)}.`.repeat(3)}br`,
  `whsec_${'A'.repeat(122)}`,
  `${'0'.repeat(45)}/128`,
  'A'.repeat(43),
  'trf_1',
  'BRL',
  'America/Argentina/ComodRivadavia',
]

/** The name of a schema's part, for the fault. */
type At = string

/** Texts that no tenant writes, or that are parsed and written anew: ASCII that needs no escape. */
const ofOurMaking = /(^id|Id|^key|gameUrl|thumbnailUrl|timeZone|apiVersion)$/

const isNamed = (at: At, name: RegExp) => name.test(at.split('.').at(-1) ?? '')
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const heaviest = <T>(values: readonly T[]): T | undefined => values.toSorted((a, b) => bytesOf(b) - bytesOf(a))[0]

/**
 * The heaviest value of a schema as JSON.
 * @throws {Error} naming the part that has no bound
 */
export function longest(schema: TSchema, at: At): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.anyOf !== undefined) return heaviest((schema.anyOf as TSchema[]).map((member) => longest(member, at)))
  switch (schema.type) {
    case 'string':
      return longestText(schema, at)
    case 'integer':
      return Math.min(Number.MAX_SAFE_INTEGER, schema.maximum ?? Number.POSITIVE_INFINITY)
    case 'number':
      return (schema.maximum ?? Number.MAX_SAFE_INTEGER) - 1 / 3
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array': {
      if (schema.maxItems === undefined) throw new Error(`${at} has no maxItems`)
      const { items, maxItems, uniqueItems } = schema
      if (uniqueItems && items.anyOf !== undefined) return items.anyOf.map((member: TSchema) => longest(member, at))
      const item = longest(items, `${at}[]`)
      // Texts that are unique differ in their last three characters.
      const nth = (n: number) => String(item).slice(0, -3) + String(n).padStart(3, '0')
      return Array.from({ length: maxItems }, (_, n) => (uniqueItems ? nth(n) : item))
    }
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties as Record<string, TSchema>).map(([name, part]) => [
          name,
          longest(part, `${at}.${name}`),
        ]),
      )
    default:
      throw new Error(`${at} may be anything`)
  }
}

/** Without a maximum length a text is bounded by a pattern or a format that says how long it is. */
function isBounded({ maxLength, pattern, format }: TSchema): boolean {
  if (maxLength !== undefined || ['date', 'date-time'].includes(format)) return true
  const withoutClasses = String(pattern ?? '*').replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, 'x')
  return !/[*+]|\{\d+,\}/.test(withoutClasses)
}

function longestText(schema: TSchema, at: At): string {
  if (!isBounded(schema)) throw new Error(`${at} has no maxLength`)
  if (schema.pattern === undefined && schema.format === undefined && isNamed(at, ofOurMaking))
    return 'A'.repeat(schema.maxLength)
  const lengths = [schema.maxLength ?? 128, 64, 45, 32, 16, 15, 11, 3, 2, 1]
  const repeated = characters.flatMap((character) => {
    const length = lengths.find((length) => validate(schema, character.repeat(length)) === null)
    return length === undefined ? [] : [character.repeat(length)]
  })
  const found = heaviest([...repeated, ...samples.filter((sample) => validate(schema, sample) === null)])
  if (found === undefined) throw new Error(`${at}: no sample fits ${schema.pattern ?? schema.format}; add one`)
  return found
}
