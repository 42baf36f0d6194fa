import { openApiDocument } from '@backoffice/documents'
import openapiTS, { astToString } from 'openapi-typescript'

/** The TypeScript of src/api.ts: the schemas and operations of the OpenAPI document. */
export async function generateApiTypes(): Promise<string> {
  const document = openApiDocument({ baseUrl: 'https://backoffice.invalid/api/v1' })
  const nodes = await openapiTS(JSON.stringify(document))
  return `// Generated from the operation table by "npm run generate"; a test fails when it is stale.\n\n${astToString(nodes)}`
}
