export { docsAssets, docsContentSecurityPolicy, docsPage } from './docs-page.ts'
export { openApiDocument } from './openapi.ts'
export { postmanCollection } from './postman.ts'
export { publishedErrorCodes } from './reference.ts'
export {
  languages,
  type Snippet,
  type SnippetPurpose,
  signingSnippets,
  snippetFile,
  snippetPurposes,
} from './snippets.ts'
export { type RequestVector, testVectors, type WebhookAgeVector, type WebhookVector } from './test-vectors.ts'
