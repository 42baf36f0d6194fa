import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { copyOfDeploy, kustomizeCommand, type Manifest, overlays, render, resourceFiles } from './kustomize.ts'
import { skip } from './rendered.ts'
import { faultsOf, nameOf, unknownFields } from './schemas.ts'

t.setTimeout(300_000)

const kustomize = kustomizeCommand()

async function allFaults(manifests: readonly Manifest[]): Promise<readonly string[]> {
  const faults = (await Promise.all(manifests.map(faultsOf))).flat()
  const unknown = [...unknownFields(manifests)].map(([index, words]) => `${nameOf(manifests[index])}: ${words}`)
  return [...faults, ...unknown]
}

t.test('every resource is written as the schema of its kind says, before patches', async (t) => {
  const files = resourceFiles()
  t.ok(files.size > 10)
  // Filled by patches: a document of its own may lack them.
  const complete = [...files.values()].flat().filter(({ kind }) => kind !== 'HorizontalPodAutoscaler')
  t.same(await allFaults(complete), [])
})

t.test('both overlays can be built', { skip }, async (t) => {
  t.ok(kustomize, 'kubectl 1.27 or newer, or kustomize 5')
  if (kustomize === null) return
  const deploy = copyOfDeploy(t.testdir())
  for (const overlay of overlays) {
    const manifests = render(kustomize, deploy, overlay)
    t.test(
      `${overlay}: every document is what the schema of its kind says, and has no field that it does not know`,
      async (t) => {
        t.ok(manifests.length > 30)
        t.same(await allFaults(manifests), [])
      },
    )
    t.test(`${overlay}: no two documents are the same thing`, async (t) => {
      const names = manifests.map((manifest) => `${nameOf(manifest)} ${manifest.metadata.namespace}`)
      t.same(
        names.filter((name, index) => names.indexOf(name) !== index),
        [],
      )
    })
  }

  t.test('a misspelt field is found in every kind and at every depth', async (t) => {
    const misspelt = withUnknownFieldEverywhere(overlays.flatMap((overlay) => render(kustomize, deploy, overlay)))
    t.ok(misspelt.length > 200, `${misspelt.length} places`)
    const found = unknownFields(misspelt.map(({ manifest }) => manifest))
    t.same(
      misspelt.filter((_, index) => !found.has(index)).map(({ where }) => where),
      [],
    )
  })

  t.test('a misspelt field in a file that is merged into others is found where it ends', async (t) => {
    const misspelt = copyOfDeploy(t.testdir())
    const file = join(misspelt, 'k8s/base/services/deployment.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('terminationGracePeriodSeconds', 'terminationGraceSeconds'))
    const faults = await allFaults(render(kustomize, misspelt, 'production'))
    t.equal(faults.length, serviceNames.length + 2, 'of the services, the games and the console')
    for (const fault of faults) t.match(fault, /^Deployment .*terminationGraceSeconds/)
  })

  t.test('a missing field and a wrong type are found', async (t) => {
    const deployment = render(kustomize, deploy, 'production').find(({ kind }) => kind === 'Deployment')
    const nameless = structuredClone(deployment)
    delete nameless.spec.template.spec.containers[0].name
    t.match((await faultsOf(nameless)).join(), /name/)
    const wrong = structuredClone(deployment)
    wrong.spec.minReadySeconds = 'five'
    t.match((await faultsOf(wrong)).join(), /minReadySeconds/)
  })
})

/** Maps whose keys are anybody's. */
const freeForm = new Set(['annotations', 'data', 'labels', 'limits', 'matchLabels', 'parameters', 'requests'])
const isFreeForm = (kind: string, path: Path) =>
  freeForm.has(String(path.at(-1))) || (kind === 'Service' && path.at(-1) === 'selector')

interface Misspelt {
  readonly where: string
  readonly manifest: Manifest
}

/** One copy for each place in which a kind has an object, with one more field there. */
function withUnknownFieldEverywhere(manifests: readonly Manifest[]): readonly Misspelt[] {
  const copies = new Map<string, Misspelt>()
  for (const manifest of manifests) {
    for (const path of objectsIn(manifest, [], manifest.kind)) {
      const where = [manifest.kind, ...path.map((key) => (typeof key === 'number' ? '*' : key))].join('.')
      if (copies.has(where)) continue
      const copy = structuredClone(manifest)
      path.reduce((node, key) => node[key], copy).unknownField = 'x'
      copies.set(where, { where, manifest: copy })
    }
  }
  return [...copies.values()]
}

type Path = readonly (string | number)[]

function objectsIn(node: Manifest, path: Path, kind: string): readonly Path[] {
  if (Array.isArray(node)) return node.flatMap((child, index) => objectsIn(child, [...path, index], kind))
  if (typeof node !== 'object' || node === null || isFreeForm(kind, path)) return []
  return [path, ...Object.entries(node).flatMap(([key, child]) => objectsIn(child, [...path, key], kind))]
}
