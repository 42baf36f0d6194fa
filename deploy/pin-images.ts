// Writes into the files of deploy/ which bytes the tag of each image of somebody else's means today: `nats:2.15.1-alpine`
// becomes `nats:2.15.1-alpine@sha256:…`. A tag can be moved by whoever owns it, a digest cannot. Run for each release, on a
// machine that reaches the registries: it asks Docker (buildx), and fails if one of them is not known.
//
//   npm run pin-images             # asks, and writes
//   npm run pin-images -- --check  # asks nobody: exit status 1 names what is not pinned
//   npm run pin-images -- --own    # for our own images, once a release of them is in the registry: into components/release
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const deployFolder = fileURLToPath(new URL('.', import.meta.url))

const digest = '@sha256:[0-9a-f]{64}'
/** Where a manifest, the compose file or the Dockerfile names an image with a tag. */
const reference = new RegExp(
  `((?:\\bimage: |_IMAGE=|_IMAGE:-)(?:\\$\\{[A-Z]+_IMAGE:-)?)([a-z][a-z0-9./-]*:[\\w.-]+)(${digest})?`,
  'g',
)

export interface Reference {
  readonly image: string
  /** Without the @; null when it is only a tag. */
  readonly digest: string | null
}

/** The images of somebody else's that a file names. */
export function referencesIn(text: string): Reference[] {
  return [...text.matchAll(reference)]
    .map(([, , image = '', pinned]) => ({ image, digest: pinned?.slice(1) ?? null }))
    .filter(({ image }) => !image.startsWith('backoffice/'))
}

/** The same file with these digests; a former one is replaced. */
export function withDigests(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replaceAll(reference, (whole, before: string, image: string) => {
    const known = digests.get(image)
    return known === undefined ? whole : `${before}${image}@${known}`
  })
}

/** Every file that may name an image. */
export const imageFiles = (folder = deployFolder): string[] =>
  globSync(['docker/Dockerfile', 'docker/compose.yaml', 'k8s/**/*.yaml'], { cwd: folder }).map(
    (file) => `${folder}${file}`,
  )

function digestOf(image: string): string {
  const args = ['buildx', 'imagetools', 'inspect', image, '--format', '{{.Manifest.Digest}}']
  const answer = execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  if (!/^sha256:[0-9a-f]{64}$/.test(answer)) throw new Error(`no digest of ${image}: ${answer}`)
  return answer
}

/** An image of ours, and where the registry has it. */
const ownImage = /(\{ name: (?:backoffice\/[\w-]+), newName: ([\w./:-]+), newTag: ([\w.-]+))(, digest: "[^"]*")? \}/g

/** The same text with a digest for each of our images; a former one is replaced. */
export function withOwnDigests(text: string, digestOf: (image: string) => string): string {
  return text.replaceAll(
    ownImage,
    (_, entry: string, name: string, tag: string) => `${entry}, digest: "${digestOf(`${name}:${tag}`)}" }`,
  )
}

function pinOwn(): void {
  const file = `${deployFolder}k8s/components/release/kustomization.yaml`
  writeFileSync(file, withOwnDigests(readFileSync(file, 'utf8'), digestOf))
}

function main(onlyCheck: boolean): void {
  const texts = imageFiles().map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  const references = texts.flatMap(({ text }) => referencesIn(text))
  if (onlyCheck) {
    const loose = new Set(references.filter((each) => each.digest === null).map(({ image }) => image))
    for (const image of loose) process.stdout.write(`not pinned: ${image}\n`)
    process.exitCode = loose.size === 0 ? 0 : 1
    return
  }
  // All are asked before anything is written.
  const digests = new Map([...new Set(references.map(({ image }) => image))].map((image) => [image, digestOf(image)]))
  for (const { file, text } of texts) writeFileSync(file, withDigests(text, digests))
  for (const [image, known] of digests) process.stdout.write(`${image}@${known}\n`)
}

if (import.meta.main) {
  if (process.argv.includes('--own')) pinOwn()
  else main(process.argv.includes('--check'))
}
