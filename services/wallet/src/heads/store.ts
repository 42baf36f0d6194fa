/**
 * What an export has: the heads that moved since the export before, or those of all accounts. A name begins with its kind,
 * because records of restores stand beside them (restores.ts).
 */
export type ObjectKind = 'delta' | 'snapshot'

/**
 * Where exported heads are kept, outside of the database. Objects are only added: whoever can write to the database must
 * not be able to change or remove one, which is up to the place itself.
 */
export interface HeadStore {
  /** Adds an object. @returns false when there is one of that name, which stays as it is */
  put(name: string, text: string): Promise<boolean>
  /** Names that begin with `prefix` and sort above `after`, in order. */
  list(prefix: string, after: string): Promise<string[]>
  /** The text of an object, in pieces. */
  read(name: string): AsyncIterable<string>
}

/** One of the objects of an export. */
export interface ExportPart {
  readonly kind: ObjectKind
  readonly at: Date
  /** From 1. */
  readonly part: number
  /** An export without its last part was broken off, and counts for nothing. */
  readonly isLast: boolean
}

// The time has no colons, which a folder may not know. Names of one kind sort by time and part.
export const stampOf = (at: Date) => at.toISOString().replaceAll(':', '-')

export const nameOf = ({ kind, at, part, isLast }: ExportPart): string =>
  `${kind}/${stampOf(at)}-${String(part).padStart(6, '0')}${isLast ? '-last' : ''}.ndjson`

/** What all names of a kind from a moment on sort above. */
export const nameBefore = (kind: ObjectKind, at: Date): string => `${kind}/${stampOf(at)}`

const form = /^(delta|snapshot)\/(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)-(\d{6})(-last)?\.ndjson$/

/** @returns null when the name is none of an export */
export function partOf(name: string): ExportPart | null {
  const [, kind, day, hour, minute, second, part, last] = form.exec(name) ?? []
  if (day === undefined) return null
  const at = new Date(`${day}${hour}:${minute}:${second}`)
  return { kind: kind as ObjectKind, at, part: Number(part), isLast: last !== undefined }
}
