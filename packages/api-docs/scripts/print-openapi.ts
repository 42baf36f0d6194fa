// Prints the OpenAPI document of a surface as a release keeps it: `npm run release` saves it among the released ones.
import { openApiDocument, operators, providers } from '../src/index.ts'

const surface = process.argv[2] === 'providers' ? providers : operators
const document = openApiDocument({ baseUrl: `https://backoffice.invalid${surface.prefix}`, surface })
process.stdout.write(`${JSON.stringify(document)}\n`)
