export { docsAssets, documentation, providerDocumentation } from './docs-page.ts'
export { openApiDocument } from './openapi.ts'
export { postmanCollection } from './postman.ts'
export { type SampleLanguage, sampleLanguages, sampleOf, samplePlaceholders } from './samples.ts'
export { guideFile, pages } from './served.ts'
export {
  languages,
  providerSnippet,
  type SnippetPurpose,
  signingSnippets,
  snippetFile,
} from './snippets.ts'
export { operators, providers, type Surface } from './surface.ts'
export { exampleEvent, providerTestVectors, testVectors } from './test-vectors.ts'
