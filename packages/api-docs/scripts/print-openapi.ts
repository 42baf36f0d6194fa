// Prints the OpenAPI document as a release keeps it: `npm run release` saves it among the released ones.
import { openApiDocument } from '../src/index.ts'

const document = openApiDocument({ baseUrl: 'https://backoffice.invalid/api/v1' })
process.stdout.write(`${JSON.stringify(document)}\n`)
