// The thread that makes the public documents, and the one place that loads what makes them.
import { readFile } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { documentation, openApiDocument, postmanCollection, signingSnippets, testVectors } from '@backoffice/api-docs'
import { type DocumentFile, withoutSamples } from '@backoffice/api-docs/served'
import type { DocumentReply, DocumentRequest } from './documents.ts'

interface Options {
  readonly baseUrl: string
}

const json = (value: unknown): DocumentFile => ({
  contentType: 'application/json; charset=utf-8',
  body: Buffer.from(JSON.stringify(value)),
})
const changelogFile = new URL('../../../../CHANGELOG.md', import.meta.url)

/** By the operation's id, or the path below /api/v1 of what has none. */
const makers = new Map<string, (options: Options) => DocumentFile | Promise<DocumentFile>>([
  ['getOpenApi', (options) => json(openApiDocument(options))],
  [withoutSamples, (options) => json(openApiDocument({ ...options, samples: false }))],
  ['getPostmanCollection', (options) => json(postmanCollection(options))],
  ['getSigningSnippets', () => json(signingSnippets())],
  ['getTestVectors', () => json(testVectors())],
  ['getChangelog', async () => ({ contentType: 'text/markdown; charset=utf-8', body: await readFile(changelogFile) })],
  ...Array.from(documentation, ([path, make]) => [path === '' ? 'getDocs' : `/docs/${path}`, make] as const),
])

async function make({ name, baseUrl }: DocumentRequest): Promise<DocumentFile> {
  const maker = makers.get(name)
  if (maker === undefined) throw new Error(`no document for ${name}`)
  return maker({ baseUrl })
}

parentPort?.on('message', async (request: DocumentRequest) => {
  const { id } = request
  const reply: DocumentReply = await make(request).then(
    (file) => ({ id, file }),
    (error: unknown) => ({ id, error }),
  )
  parentPort?.postMessage(reply)
})
