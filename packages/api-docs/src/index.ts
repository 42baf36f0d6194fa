export { docsAssets, documentation } from './docs-page.ts'
export { openApiDocument } from './openapi.ts'
export { postmanCollection } from './postman.ts'
export { type SampleLanguage, sampleLanguages, sampleOf, samplePlaceholders } from './samples.ts'
export { guideFile, pages } from './served.ts'
export {
  languages,
  type SnippetPurpose,
  signingSnippets,
  snippetFile,
} from './snippets.ts'
export { testVectors } from './test-vectors.ts'
