export { docsAssets, documentation } from './docs-page.ts'
export { openApiDocument } from './openapi.ts'
export { postmanCollection } from './postman.ts'
export { type SampleLanguage, sampleLanguages, sampleOf, samplePlaceholders } from './samples.ts'
export { guideFile, pages } from './served.ts'
export {
  languages,
  type Snippet,
  type SnippetPurpose,
  signingSnippets,
  snippetFile,
  snippetPurposes,
} from './snippets.ts'
export { type RequestVector, testVectors, type WebhookAgeVector, type WebhookVector } from './test-vectors.ts'
