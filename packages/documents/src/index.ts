export { docsAssets } from './docs-assets.ts'
export { documentation } from './docs-page.ts'
export { openApiDocument } from './openapi.ts'
export { guideFile, pages } from './pages.ts'
export { postmanCollection } from './postman.ts'
export { type SampleLanguage, sampleLanguages } from './sample-languages.ts'
export { sampleOf, samplePlaceholders } from './samples.ts'
export {
  languages,
  type Snippet,
  type SnippetPurpose,
  signingSnippets,
  snippetFile,
  snippetPurposes,
} from './snippets.ts'
export { type RequestVector, testVectors, type WebhookAgeVector, type WebhookVector } from './test-vectors.ts'
