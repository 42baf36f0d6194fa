import { createReadStream } from 'node:fs'
import { mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { patiently } from '@backoffice/process'

/**
 * What an export has: the heads that moved since the export before, or those of all accounts. A name begins with its kind,
 * because records of restores and of the team stand beside them (exports.ts, team-history.ts).
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

/** The same store, whose faults are of evidence that is missing. */
export const evidenceOf = (store: HeadStore): HeadStore => ({
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

interface BucketSettings {
  readonly bucket: string
  readonly region: string
  /** Of a storage that is not Amazon's. */
  readonly endpoint?: string | undefined
  /** What the names of objects begin with, where a bucket is shared. */
  readonly prefix: string
  /** Without them the client looks where Amazon's clients do: a role of the pod or of the machine. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
  /** Ends every request, because a storage that says nothing must not hold up a shutdown. */
  readonly signal?: AbortSignal | undefined
}

const connectionTimeoutMs = 5_000
const requestTimeoutMs = 30_000

/**
 * Heads in a bucket that speaks the S3 API. Nothing is overwritten: a PUT asks for a name that is free. That nothing is
 * removed either is the bucket's own lock. The client is loaded when it is first used, because few need it.
 */
export function bucketStore({ bucket, prefix, signal, ...settings }: BucketSettings): HeadStore {
  const options = signal === undefined ? {} : { abortSignal: signal }
  let connected: ReturnType<typeof connect> | undefined
  const client = () => {
    connected ??= connect(settings)
    return connected
  }
  return {
    async put(name, text) {
      const { s3, PutObjectCommand } = await client()
      const Body = Buffer.from(text)
      const put = new PutObjectCommand({ Bucket: bucket, Key: `${prefix}${name}`, Body, IfNoneMatch: '*' })
      try {
        await s3.send(put, options)
        return true
      } catch (error) {
        // There is one, or another replica is writing it at this moment.
        const { $metadata } = error as { $metadata?: { httpStatusCode?: number } }
        if ($metadata?.httpStatusCode === 412 || $metadata?.httpStatusCode === 409) return false
        throw error
      }
    },
    async list(begin, after) {
      const { s3, ListObjectsV2Command } = await client()
      const names: string[] = []
      let token: string | undefined
      do {
        const page = await s3.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: `${prefix}${begin}`,
            StartAfter: `${prefix}${after}`,
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
          options,
        )
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) names.push(Key.slice(prefix.length))
        token = page.NextContinuationToken
      } while (token !== undefined)
      return names.sort()
    },
    async *read(name) {
      const { s3, GetObjectCommand } = await client()
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: `${prefix}${name}` }), options)
      const decoder = new TextDecoder()
      for await (const piece of (Body ?? []) as AsyncIterable<Uint8Array>) yield decoder.decode(piece, { stream: true })
    },
  }
}

async function connect({ region, endpoint, credentials }: Omit<BucketSettings, 'bucket' | 'prefix' | 'signal'>) {
  const { S3Client, ...commands } = await import('@aws-sdk/client-s3')
  const s3 = new S3Client({
    region,
    // Another storage than Amazon's seldom has a host name for each bucket.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    requestHandler: {
      connectionTimeout: patiently(connectionTimeoutMs),
      requestTimeout: patiently(requestTimeoutMs),
      throwOnRequestTimeout: true,
    },
  })
  return { s3, ...commands }
}

/**
 * Heads in a folder, for one machine and for development. A file appears under its name while it is written, because many
 * kinds of storage cannot rename; what a killed process leaves ends in the middle of a line.
 */
export const folderStore = (dir: string): HeadStore => ({
  async put(name, text) {
    const path = join(dir, name)
    await mkdir(dirname(path), { recursive: true })
    const file = await open(path, 'wx', 0o440).catch((error) => {
      if (error.code === 'EEXIST') return null
      throw error
    })
    if (file === null) return false
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    return true
  },
  async list(prefix, after) {
    const folder = dirname(`${prefix}x`)
    const files = await readdir(join(dir, folder)).catch((error) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const names = files.map((file) => `${folder}/${file}`)
    return names.filter((name) => name.startsWith(prefix) && name > after).sort()
  },
  read: (name) => createReadStream(join(dir, name), 'utf8'),
})
