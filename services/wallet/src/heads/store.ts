/**
 * What an export has: the heads that moved since the export before, or those of all accounts. A name begins with its kind,
 * because records of restores and of the team stand beside them (restores.ts, teams.ts).
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

/** The whole text of a small object. */
export async function textOf(store: HeadStore, name: string): Promise<string> {
  let text = ''
  for await (const piece of store.read(name)) text += piece
  return text
}

/** One of the objects of an export. */
export interface ExportPart {
  readonly kind: ObjectKind
  readonly at: Date
  /** From 1. */
  readonly part: number
  /**
   * When the heads had been read; only on the last part. What was entered after `at` may be among them. An export without
   * its last part was broken off, and counts for nothing.
   */
  readonly readUntil: Date | null
}

// The time has no colons, which a folder may not know. Names of one kind sort by time and part.
export const stampOf = (at: Date) => at.toISOString().replaceAll(':', '-')

export const nameOf = ({ kind, at, part, readUntil }: ExportPart): string =>
  `${kind}/${stampOf(at)}-${String(part).padStart(6, '0')}${readUntil === null ? '' : `-last-${stampOf(readUntil)}`}.ndjson`

/** What all names of a kind from a moment on sort above. */
export const nameBefore = (kind: ObjectKind, at: Date): string => `${kind}/${stampOf(at)}`

const stamp = '(\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d\\.\\d{3}Z)'
const form = new RegExp(`^(delta|snapshot)/${stamp}-(\\d{6})(?:-last-${stamp})?\\.ndjson$`)
const timeOf = (text: string) => new Date(text.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'))

/** @returns null when the name is none of an export */
export function partOf(name: string): ExportPart | null {
  const [, kind, at, part, readUntil] = form.exec(name) ?? []
  if (at === undefined) return null
  return {
    kind: kind as ObjectKind,
    at: timeOf(at),
    part: Number(part),
    readUntil: readUntil === undefined ? null : timeOf(readUntil),
  }
}
