import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { rendered, skip } from './cluster.ts'
import { documentsIn, type Manifest, overlays, resourceFiles, withOperators } from './kustomize.ts'

/** Where the published schemas of a group's kinds are; Kubernetes' own are in `kubernetes-models`. */
const customResources: Readonly<Record<string, string>> = {
  'argoproj.io': '@kubernetes-models/argo-cd',
  'cert-manager.io': '@kubernetes-models/cert-manager',
  'external-secrets.io': '@kubernetes-models/external-secrets',
  'gateway.envoyproxy.io': '@kubernetes-models/envoy-gateway',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
}

/** Kinds that nobody publishes a package of. The API server refuses a field of theirs that it does not know. */
const withoutSchema = ['barmancloud.cnpg.io/v1/ObjectStore', 'trust.cert-manager.io/v1alpha1/Bundle']
const hasSchema = ({ apiVersion, kind }: Manifest) => !withoutSchema.includes(`${apiVersion}/${kind}`)

const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata?.name}`
const workspace = fileURLToPath(new URL('..', import.meta.url))

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
const ofTheTestCluster = documentsIn(readFileSync(new URL('../cluster/objects.yaml', import.meta.url), 'utf8'))
/** What several overlays have alike is read once. */
const documents = [
  ...new Map([...written, ...ofTheTestCluster, ...applied].map((each) => [JSON.stringify(each), each])).values(),
].filter(hasSchema)
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

function moduleOf({ apiVersion, kind }: Manifest): string {
  const [group] = String(apiVersion).split('/')
  return `${customResources[group ?? ''] ?? 'kubernetes-models'}/${apiVersion}/${kind}`
}

/** Holds a document against the schema of its kind: types, required fields, the values that are allowed. */
async function faultsOf(manifest: Manifest): Promise<readonly string[]> {
  try {
    const { [manifest.kind]: Model } = await import(moduleOf(manifest))
    new Model(manifest).validate()
    return []
  } catch (fault) {
    return [`${nameOf(manifest)}: ${(fault as Error).message}`]
  }
}

/**
 * What the schemas do not refuse, the types do: written as a literal of its type, a document may not have a field that
 * the type does not know, however deep.
 * @returns the compiler's words by the document's index
 */
function unknownFields(manifests: readonly Manifest[]): ReadonlyMap<number, string> {
  const cache = join(workspace, '.cache')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'literals-'))
  try {
    const typeOf = (manifest: Manifest) => `I${manifest.kind} from '${moduleOf(manifest)}'`
    const types = [...new Set(manifests.map(typeOf))]
    const imports = types.map((type, index) => `import type { ${type.replace(' ', ` as Kind${index} } `)}`)
    // One line each, so that the line of a complaint tells the document.
    const literals = manifests.map(
      (manifest, index) =>
        `const manifest${index}: Kind${types.indexOf(typeOf(manifest))} = ${JSON.stringify(manifest)}`,
    )
    writeFileSync(join(dir, 'literals.ts'), [...imports, ...literals].join('\n'))
    writeFileSync(
      join(dir, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          allowImportingTsExtensions: true,
          module: 'nodenext',
          target: 'esnext',
          skipLibCheck: true,
          types: [],
        },
        files: ['literals.ts'],
      }),
    )
    return complaints(dir, imports.length)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function complaints(dir: string, linesBefore: number): ReadonlyMap<number, string> {
  const found = new Map<number, string>()
  const compiler = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
  try {
    // Without what the test runner loads into every Node.
    execFileSync(
      'env',
      ['-u', 'NODE_OPTIONS', process.execPath, compiler, '-p', dir, '--checkers', '1', '--pretty', 'false'],
      {
        encoding: 'utf8',
        cwd: dir,
        maxBuffer: 256 * 2 ** 20,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
  } catch (fault) {
    const { stdout } = fault as { readonly stdout: string }
    for (const line of stdout.split('\n')) {
      const [, number, words] = /^literals\.ts\((\d+),\d+\): (.*)$/.exec(line) ?? []
      if (number === undefined || words === undefined) continue
      const index = Number(number) - linesBefore - 1
      if (index < 0) throw new Error(`the schemas cannot be read: ${words}`)
      if (!found.has(index)) found.set(index, words)
    }
    if (found.size === 0) throw new Error(`the compiler failed: ${stdout} ${(fault as Error).message}`)
  }
  return found
}
