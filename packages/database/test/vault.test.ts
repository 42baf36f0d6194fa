import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { noVault, SecretBox, secretBoxFrom, vaultFrom } from '../src/vault.ts'

const keysOf = (...ids: readonly string[]) =>
  ids.map((id) => `${id}:${Buffer.alloc(32, id).toString('base64')}`).join(',')
const vaultWith = (MASTER_KEYS: string, { seals = true, schema = 'players' } = {}) =>
  vaultFrom(schema, { DEVELOPMENT: false, MASTER_KEYS }, { seals })
const first = vaultWith(keysOf('first'))
const both = vaultWith(keysOf('second', 'first'))
const place = { column: 'player.sealed_identity', row: 'ply_1' }

t.test('a value is opened in its own place only: schema, column and row', async (t) => {
  const sealed = first.seal('52998224725', place)
  t.match(sealed, /^first\.[\w-]+$/)
  t.equal(first.open(sealed, place), '52998224725')
  t.throws(() => first.open(sealed, { ...place, row: 'ply_2' }))
  t.throws(() => first.open(sealed, { ...place, column: 'player.name' }))
  t.throws(() => vaultWith(keysOf('first'), { schema: 'payments' }).open(sealed, place))
})

t.test('a column of JSON and one of bytes hold either form', async (t) => {
  const value = { body: { cpf: '52998224725' } }
  const text = JSON.stringify(value)
  for (const seals of [true, false]) {
    const vault = vaultWith(keysOf('first'), { seals })
    const json = vault.sealJson(text, place)
    t.equal(json.includes('52998224725'), !seals)
    t.same(both.openJson(JSON.parse(json), place), value)
    const bytes = vault.sealBytes(Buffer.from(text), place)
    t.equal(bytes.includes('52998224725'), !seals)
    t.equal(both.openBytes(bytes, place).toString(), text)
  }
  t.equal(first.openJson(null, place), null)
})

t.test('a value is renewed when it is clear or under an older key, and not twice', async (t) => {
  const value = { body: 1 }
  const sealed = JSON.parse(first.sealJson(JSON.stringify(value), place))
  for (const stored of [value, sealed]) {
    const renewed = both.renewJson(stored, place)
    t.match(renewed, /^second\./)
    t.same(vaultWith(keysOf('second')).openJson(renewed, place), value)
    t.equal(both.renewJson(renewed, place), null)
  }
  const bytes = Buffer.from('{}')
  for (const stored of [bytes, first.sealBytes(bytes, place)]) {
    const renewed = both.renewBytes(stored, place)
    t.match(renewed?.toString(), /^second\./)
    t.equal(both.renewBytes(renewed as Buffer, place), null)
  }
  t.equal(vaultWith(keysOf('first'), { seals: false }).renewJson(value, place), null, 'what is clear stays so')
})

t.test('what is looked up has a digest under each key, the newest first, of its own for each column', async (t) => {
  const digests = both.lookupDigests('value', 'player.cpf_digest')
  const [newest = '', older = ''] = digests
  t.equal(digests.length, 2)
  t.same([newest], vaultWith(keysOf('second')).lookupDigests('value', 'player.cpf_digest'))
  t.same([older], first.lookupDigests('value', 'player.cpf_digest'))
  t.same([both.isNewest(newest), both.isNewest(older)], [true, false])
  t.notSame(both.lookupDigests('value', 'player.email_digest'), digests)
  t.notSame(both.lookupDigests('another', 'player.cpf_digest'), digests)
  t.not(both.digest('player.cpf_digest value'), newest, 'under a key of its own')
  t.same(
    vaultWith(keysOf('first'), { seals: false }).lookupDigests('value', 'player.cpf_digest'),
    [older],
    'also where nothing is sealed',
  )
  t.same(noVault.lookupDigests('value', 'player.cpf_digest'), [])
})

t.test('a digest is keyed, is known under an older key, and not under a key that is gone', async (t) => {
  const digest = first.digest('input')
  t.match(digest, /^first\./)
  t.equal(both.isDigestOf(digest, 'input'), true)
  t.equal(both.isDigestOf(digest, 'another'), false)
  t.equal(vaultWith(keysOf('second')).isDigestOf(digest, 'input'), null)
  t.equal(both.isDigestOf('plain', 'plain'), true, 'written before its field was marked')
  t.equal(vaultWith(keysOf('first'), { seals: false }).digest('input'), 'input')
})

t.test(
  'without keys nothing sealed is read, and outside development a service that seals does not start',
  async (t) => {
    t.throws(() => noVault.open(first.seal('x', place), place), { message: /no MASTER_KEYS/ })
    for (const make of [secretBoxFrom, (keys: { DEVELOPMENT: boolean }) => vaultFrom('players', keys)]) {
      t.throws(() => make({ DEVELOPMENT: false }), { message: 'MASTER_KEYS is required outside development' })
      t.ok(make({ DEVELOPMENT: true }))
    }
  },
)

const key = () => randomBytes(32).toString('base64')
const firstKey = `k1:${key()}`
const secondKey = `k2:${key()}`

t.test('any secret comes back, and two ciphertexts of one secret differ', async (t) => {
  const box = new SecretBox(firstKey)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (secret, context) => {
      const sealed = box.encrypt(secret, context)
      return box.decrypt(sealed, context) === secret && sealed !== box.encrypt(secret, context)
    }),
  )
  t.match(box.encrypt('sk_1', 'crd_1'), /^k1\.[A-Za-z0-9_-]+$/)
})

t.test('a changed ciphertext, another context or an unknown key does not open', async (t) => {
  const box = new SecretBox(firstKey)
  const sealed = box.encrypt('sk_1', 'crd_1')
  t.throws(() => box.decrypt(sealed, 'crd_2'))
  for (let index = 3; index < sealed.length - 1; index += 5) {
    const other = sealed[index] === 'A' ? 'B' : 'A'
    t.throws(() => box.decrypt(sealed.slice(0, index) + other + sealed.slice(index + 1), 'crd_1'))
  }
  t.throws(() => new SecretBox(secondKey).decrypt(sealed, 'crd_1'), /unknown master key id: k1/)
})

t.test('a ciphertext whose tag was shortened does not open, though its remaining bytes are right', async (t) => {
  const box = new SecretBox(firstKey)
  // Of an empty secret, so that the tag is the end of the ciphertext.
  const [keyId, encoded = ''] = box.encrypt('', 'crd_1').split('.')
  const bytes = Buffer.from(encoded, 'base64url')
  const shortened = (tagBytes: number) => `${keyId}.${bytes.subarray(0, 12 + tagBytes).toString('base64url')}`
  t.equal(box.decrypt(shortened(16), 'crd_1'), '')
  for (const tagBytes of [15, 14, 13, 12, 8, 4, 1, 0]) t.throws(() => box.decrypt(shortened(tagBytes), 'crd_1'))
})

t.test('faulty master keys are refused', async (t) => {
  for (const keys of ['', 'k1', 'k1:short', `k 1:${key()}`, `${firstKey},${firstKey}`])
    t.throws(() => new SecretBox(keys), /MASTER_KEYS/, keys)
})
