// Writes src/api.ts from the OpenAPI document, so that the client's types are the contracts' own.
import { writeFile } from 'node:fs/promises'
import { generateApi } from './api-types.ts'

await writeFile(new URL('../src/api.ts', import.meta.url), await generateApi())
