import type { HeadStore } from './store.ts'

export interface BucketSettings {
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
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    },
  })
  return { s3, ...commands }
}
