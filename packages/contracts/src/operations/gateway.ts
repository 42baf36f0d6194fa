import { Type } from '@sinclair/typebox'
import { operation } from '../operation.ts'
import { apiVersion, Me } from '../resources.ts'

const document = { service: 'gateway', audience: 'public', kind: 'query', tag: 'Documents' } as const
const JsonDocument = Type.Object({}, { additionalProperties: true })

export const getOpenApi = operation({
  ...document,
  id: 'getOpenApi',
  summary: 'OpenAPI document',
  description: 'The OpenAPI 3.1 document of this version.',
  http: { method: 'GET', path: '/openapi.json', status: 200 },
  reply: JsonDocument,
})

export const getChangelog = operation({
  ...document,
  id: 'getChangelog',
  summary: 'Change history',
  description: 'The history of the API, as Markdown (`text/markdown`).',
  http: { method: 'GET', path: '/changelog', status: 200 },
  reply: Type.String(),
})

export const getPostmanCollection = operation({
  ...document,
  id: 'getPostmanCollection',
  summary: 'Postman collection',
  description: 'A Postman v2.1 collection with all operations and a pre-request signing script.',
  http: { method: 'GET', path: '/postman.json', status: 200 },
  reply: JsonDocument,
})

export const getSigningSnippets = operation({
  ...document,
  id: 'getSigningSnippets',
  summary: 'Signing snippets',
  description: 'Code to sign requests and to verify webhooks in several languages.',
  http: { method: 'GET', path: '/signing-snippets.json', status: 200 },
  reply: JsonDocument,
})

export const getTestVectors = operation({
  ...document,
  id: 'getTestVectors',
  summary: 'Signature test vectors',
  description: 'Inputs and expected signatures, for requests and for webhooks.',
  http: { method: 'GET', path: '/test-vectors.json', status: 200 },
  reply: JsonDocument,
})

export const getDocs = operation({
  ...document,
  id: 'getDocs',
  summary: 'Documentation page',
  description: 'The documentation as an HTML page (`text/html`).',
  http: { method: 'GET', path: '/docs', status: 200 },
  reply: Type.String(),
})

export const getMe = operation({
  id: 'getMe',
  service: 'gateway',
  audience: 'operator',
  kind: 'query',
  tag: 'Account',
  summary: 'Who am I',
  description: 'The operator, brand and environment of the credential. The quickest check of a signature.',
  http: { method: 'GET', path: '/me', status: 200 },
  reply: Me,
  example: {
    reply: {
      operator: { id: 'op_01kaj6a0qkf3d8ry3j8z6c9m1e', name: 'demo', environment: 'sandbox' },
      brand: { id: 'brd_01kaj6a0qmf8ctbdfmbh5yt2r7', name: 'demo sandbox', currency: 'BRL', isSandbox: true },
      apiVersion,
    },
  },
})
