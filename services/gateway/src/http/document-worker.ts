// The thread that makes the public documents, and the one place that loads what makes them.
import { readFile } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import {
  documentation,
  openApiDocument,
  postmanCollection,
  providerDocumentation,
  providers,
  providerTestVectors,
  signingSnippets,
  testVectors,
} from '@backoffice/api-docs'
import { type DocumentFile, providerChangelogFile, withoutSamples } from '@backoffice/api-docs/served'
import type { DocumentReply, DocumentRequest } from './documents.ts'

interface Options {
  readonly baseUrl: string
}

const json = (value: unknown): DocumentFile => ({
  contentType: 'application/json; charset=utf-8',
  body: Buffer.from(JSON.stringify(value)),
})
const markdown = async (file: string): Promise<DocumentFile> => ({
  contentType: 'text/markdown; charset=utf-8',
  body: await readFile(new URL(`../../../../${file}`, import.meta.url)),
})

/** By the names of `ServedDocument`. */
const makers = new Map<string, (options: Options) => DocumentFile | Promise<DocumentFile>>([
  ['getOpenApi', (options) => json(openApiDocument(options))],
  [withoutSamples, (options) => json(openApiDocument({ ...options, samples: false }))],
  ['getPostmanCollection', (options) => json(postmanCollection(options))],
  ['getSigningSnippets', () => json(signingSnippets())],
  ['getTestVectors', () => json(testVectors())],
  ['getChangelog', () => markdown('CHANGELOG.md')],
  ...Array.from(documentation, ([path, make]) => [path === '' ? 'getDocs' : `/docs/${path}`, make] as const),
  ['providers/openapi.json', (options) => json(openApiDocument({ ...options, surface: providers }))],
  ['providers/test-vectors.json', () => json(providerTestVectors())],
  ['providers/changelog', () => markdown(providerChangelogFile)],
  ...Array.from(
    providerDocumentation,
    ([path, make]) => [`providers/docs${path === '' ? '' : `/${path}`}`, make] as const,
  ),
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
