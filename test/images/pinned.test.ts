import { readFileSync } from 'node:fs'
import t from 'tap'
import { deployFolder, imageFiles, referencesIn, withDigests, withOwnDigests } from '../../deploy/pin-images.ts'

const texts = imageFiles().map((file) => readFileSync(file, 'utf8'))
const references = texts.flatMap(referencesIn)

t.test(
  'every image of somebody else is found: those of PostgreSQL, NATS with its two helpers, Node and the collector',
  async (t) => {
    const names = new Set(references.map(({ image }) => image.slice(0, image.indexOf(':'))))
    t.same([...names].sort(), [
      'nats',
      'natsio/nats-server-config-reloader',
      'natsio/prometheus-nats-exporter',
      'node',
      'otel/opentelemetry-collector-contrib',
      'postgres',
    ])
    // Whatever else is called an image is our own.
    const others = texts.flatMap((text) =>
      [...text.matchAll(/\bimage: *["']?([^\s"']+)/g)].map(([, image = '']) => image),
    )
    const ours = others.filter((image) => /^backoffice\//.test(image))
    const manifests = others.filter((image) => !/^(backoffice\/|\$\{)/.test(image))
    t.equal(others.length - ours.length - manifests.length, 3, 'of the compose file: PostgreSQL, NATS and its volume')
    for (const image of manifests)
      t.ok(
        references.some((each) => image.startsWith(each.image)),
        image,
      )
  },
)

t.test('one image is the same bytes everywhere: one tag, and one digest or none', async (t) => {
  const meant = new Map<string, Set<string>>()
  for (const { image, digest } of references) {
    const name = image.slice(0, image.indexOf(':'))
    meant.set(name, (meant.get(name) ?? new Set()).add(`${image} ${digest}`))
  }
  for (const [name, variants] of meant) t.equal(variants.size, 1, `${name}: ${[...variants].join(', ')}`)
})

t.test('pinning writes the digest behind the tag, replaces a former one, and changes nothing else', async (t) => {
  const [old, young] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`)
  const digests = (digest = '') => new Map(references.map(({ image }) => [image, digest]))
  for (const text of texts) {
    const pinned = withDigests(text, digests(old))
    t.ok(referencesIn(pinned).every(({ digest }) => digest === old))
    t.equal(withDigests(pinned, digests(young)), withDigests(text, digests(young)))
    t.equal(pinned.replaceAll(`@${old}`, ''), text.replaceAll(/@sha256:[0-9a-f]{64}/g, ''))
  }
})

t.test(
  'each of our own images gets its digest beside its tag in the overlay, and a new one the next time',
  async (t) => {
    const overlay = readFileSync(`${deployFolder}k8s/components/release/kustomization.yaml`, 'utf8')
    const plain = overlay.replaceAll(/, digest: "[^"]*"/g, '')
    const asked: string[] = []
    const [old, young] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`)
    const pinned = withOwnDigests(overlay, (image) => {
      asked.push(image)
      return old ?? ''
    })
    t.equal(new Set(asked).size, 9)
    for (const image of asked) t.match(image, /^registry\.example\/backoffice\/\w+:\d+\.\d+\.\d+$/)
    t.equal([...pinned.matchAll(/newTag: [\w.]+, digest: "sha256:a{64}" \}/g)].length, 9)
    t.equal(
      withOwnDigests(pinned, () => young ?? ''),
      pinned.replaceAll(old ?? '', young ?? ''),
    )
    t.equal(pinned.replaceAll(/, digest: "[^"]*"/g, ''), plain, 'and nothing else')
  },
)
