export { openApiDocument } from './openapi.ts'
export { postmanCollection } from './postman.ts'
export { languages, type Snippet, signingSnippets, snippetFile } from './snippets.ts'
export { type RequestVector, testVectors, type WebhookVector } from './test-vectors.ts'
