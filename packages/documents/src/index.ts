export { openApiDocument } from './openapi.ts'
export { type RequestVector, testVectors, type WebhookVector } from './test-vectors.ts'
