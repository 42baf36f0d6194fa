import { readFile } from 'node:fs/promises'
import t from 'tap'
import { generateApi } from '../scripts/api-types.ts'

const withoutLayout = (source: string) => source.replaceAll(/[\s;,'"|]/g, '')

t.test('the committed types are those of the operation table', async (t) => {
  const committed = await readFile(new URL('../src/api.ts', import.meta.url), 'utf8')
  t.equal(withoutLayout(committed), withoutLayout(await generateApi()), 'run "npm run generate" in packages/client')
})
