export { docsAssets, docsContentSecurityPolicy, docsPage } from './docs-page.ts'
export { openApiDocument } from './openapi.ts'
export { postmanCollection } from './postman.ts'
export { publishedErrorCodes } from './reference.ts'
export { codeSamplesOf, type SampleLanguage, sampleLanguages, sampleOf, samplePlaceholders } from './samples.ts'
export {
  languages,
  type Snippet,
  type SnippetPurpose,
  signingSnippets,
  snippetFile,
  snippetPurposes,
} from './snippets.ts'
export { type RequestVector, testVectors, type WebhookAgeVector, type WebhookVector } from './test-vectors.ts'
