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

  t.test('a missing field, a wrong type and a misspelt field are found', async (t) => {
    const deployment = render(kustomize, deploy, 'production').find(({ kind }) => kind === 'Deployment')
    const nameless = structuredClone(deployment)
    delete nameless.spec.template.spec.containers[0].name
    t.match((await faultsOf(nameless)).join(), /name/)
    const wrong = structuredClone(deployment)
    wrong.spec.minReadySeconds = 'five'
    t.match((await faultsOf(wrong)).join(), /minReadySeconds/)
    const misspelt = structuredClone(deployment)
    misspelt.spec.template.spec.containers[0].imagePullPolice = 'Always'
    t.match((await allFaults([misspelt])).join(), /imagePullPolice/)
  })
})
