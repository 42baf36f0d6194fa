import t from 'tap'
import type { Manifest } from './kustomize.ts'
import { overlays, resourceFiles, withOperators } from './kustomize.ts'
import { rendered, skip } from './rendered.ts'
import { faultsOf, nameOf, unknownFields } from './schemas.ts'

const files = resourceFiles()
// Filled by patches: a document of its own may lack them.
const isFilled = ({ kind, metadata }: Manifest) =>
  kind === 'HorizontalPodAutoscaler' || (kind === 'Job' && metadata.name.startsWith('preflight-'))
// Kustomize's own: it has no published schema, and is read wherever something is rendered.
const isTransformer = ({ apiVersion }: Manifest) => apiVersion === 'builtin'
const written = [...files.values()].flat().filter((manifest) => !isFilled(manifest) && !isTransformer(manifest))
const applied = skip
  ? []
  : [...overlays, ...withOperators.map((size) => `restore/${size}` as const)].flatMap(
      (overlay) => rendered(overlay).manifests,
    )
const documents: readonly Manifest[] = [...written, ...applied]
const deployment = written.find(({ kind }) => kind === 'Deployment')
const misspelt = structuredClone(deployment)
misspelt.spec.template.spec.containers[0].imagePullPolice = 'Always'
// All at once, because the compiler takes long to read the types.
const unknown = unknownFields([...documents, misspelt])

t.test('every document, as it is written and as it is applied, is what the schema of its kind says', async (t) => {
  t.ok(files.size > 10)
  t.ok(skip || applied.length > 90)
  t.same((await Promise.all(documents.map(faultsOf))).flat(), [])
})

t.test('no document has a field that its schema does not know; a misspelt one would be found', async (t) => {
  t.match(unknown.get(documents.length), /imagePullPolice/)
  t.same(
    [...unknown]
      .filter(([index]) => index !== documents.length)
      .map(([index, words]) => [nameOf(documents[index]), words]),
    [],
  )
})

t.test('no two documents of an overlay are the same thing', { skip }, async (t) => {
  for (const overlay of overlays) {
    const names = rendered(overlay).manifests.map((manifest) => `${nameOf(manifest)} ${manifest.metadata.namespace}`)
    t.same(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  }
})
