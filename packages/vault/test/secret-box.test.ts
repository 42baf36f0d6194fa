import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { SecretBox, secretBoxFrom } from '../src/index.ts'

const key = () => randomBytes(32).toString('base64')
const first = `k1:${key()}`
const second = `k2:${key()}`

t.test('any secret comes back, and two ciphertexts of one secret differ', async (t) => {
  const box = new SecretBox(first)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (secret, context) => {
      const sealed = box.encrypt(secret, context)
      return box.decrypt(sealed, context) === secret && sealed !== box.encrypt(secret, context)
    }),
  )
  t.match(box.encrypt('sk_1', 'crd_1'), /^k1\.[A-Za-z0-9_-]+$/)
})

t.test('a changed ciphertext, another context or an unknown key does not open', async (t) => {
  const box = new SecretBox(first)
  const sealed = box.encrypt('sk_1', 'crd_1')
  t.throws(() => box.decrypt(sealed, 'crd_2'))
  for (let index = 3; index < sealed.length - 1; index += 5) {
    const other = sealed[index] === 'A' ? 'B' : 'A'
    t.throws(() => box.decrypt(sealed.slice(0, index) + other + sealed.slice(index + 1), 'crd_1'))
  }
  t.throws(() => new SecretBox(second).decrypt(sealed, 'crd_1'), /unknown master key id: k1/)
})

t.test('a ciphertext whose tag was shortened does not open, though its remaining bytes are right', async (t) => {
  const box = new SecretBox(first)
  // Of an empty secret, so that the tag is the end of the ciphertext.
  const [keyId, encoded = ''] = box.encrypt('', 'crd_1').split('.')
  const bytes = Buffer.from(encoded, 'base64url')
  const shortened = (tagBytes: number) => `${keyId}.${bytes.subarray(0, 12 + tagBytes).toString('base64url')}`
  t.equal(box.decrypt(shortened(16), 'crd_1'), '')
  for (const tagBytes of [15, 14, 13, 12, 8, 4, 1, 0]) t.throws(() => box.decrypt(shortened(tagBytes), 'crd_1'))
})

t.test('old keys read, the newest writes, and rewrapping moves a secret to it once', async (t) => {
  const old = new SecretBox(first).encrypt('sk_1', 'crd_1')
  const box = new SecretBox(`${second},${first}`)
  t.equal(box.decrypt(old, 'crd_1'), 'sk_1')
  const rewrapped = box.rewrap(old, 'crd_1') ?? ''
  t.match(rewrapped, /^k2\./)
  t.equal(new SecretBox(second).decrypt(rewrapped, 'crd_1'), 'sk_1')
  t.equal(box.rewrap(rewrapped, 'crd_1'), null)
})

t.test('faulty master keys are refused', async (t) => {
  for (const keys of ['', 'k1', 'k1:short', `k 1:${key()}`, `${first},${first}`])
    t.throws(() => new SecretBox(keys), /MASTER_KEYS/, keys)
})

t.test('outside development a master key is required', async (t) => {
  t.throws(() => secretBoxFrom({ DEVELOPMENT: false }), /MASTER_KEYS is required/)
  t.ok(secretBoxFrom({ DEVELOPMENT: true }).encrypt('a', 'b'))
  t.equal(secretBoxFrom({ DEVELOPMENT: false, MASTER_KEYS: first }).newestKeyId, 'k1')
})
