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

/** What stands outside of the database cannot be read or written now, or is not what was written. */
export class EvidenceMissing extends Error {
  override readonly name = 'EvidenceMissing'

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

const missing = (cause: unknown): never => {
  throw new EvidenceMissing(cause)
}

/** The same store, whose faults are told from all others. */
export const told = (store: HeadStore): HeadStore => ({
  put: (name, text) => store.put(name, text).catch(missing),
  list: (prefix, after) => store.list(prefix, after).catch(missing),
  async *read(name) {
    try {
      yield* store.read(name)
    } catch (error) {
      missing(error)
    }
  },
})

/** @throws {EvidenceMissing} when an object does not hold what was written */
export function parsed<T>(text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw new EvidenceMissing(error)
  }
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
  /** Which history the database was on (`DatabaseHistory`); only on the last part. */
  readonly history: string | null
}

// The time has no colons, which a folder may not know. Names of one kind sort by time and part.
export const stampOf = (at: Date) => at.toISOString().replaceAll(':', '-')

export const nameOf = ({ kind, at, part, readUntil, history }: ExportPart): string =>
  `${kind}/${stampOf(at)}-${String(part).padStart(6, '0')}${readUntil === null ? '' : `-last-${stampOf(readUntil)}-of-${history}`}.ndjson`

/** What all names of a kind from a moment on sort above. */
export const nameBefore = (kind: ObjectKind, at: Date): string => `${kind}/${stampOf(at)}`

const stamp = '(\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d\\.\\d{3}Z)'
const form = new RegExp(`^(delta|snapshot)/${stamp}-(\\d{6})(?:-last-${stamp}-of-(\\d+-[0-9A-F]{8}))?\\.ndjson$`)
const timeOf = (text: string) => new Date(text.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'))

/** @returns null when the name is none of an export */
export function partOf(name: string): ExportPart | null {
  const [, kind, at, part, readUntil, history] = form.exec(name) ?? []
  if (at === undefined) return null
  return {
    kind: kind as ObjectKind,
    at: timeOf(at),
    part: Number(part),
    readUntil: readUntil === undefined ? null : timeOf(readUntil),
    history: history ?? null,
  }
}
