import { randomBytes } from 'node:crypto'
import { type Operation, residentServices, type ServiceName, serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { packToken, unpackToken } from '../src/identity/cookies.ts'
import type { Person } from '../src/identity/person.ts'
import { proposalsFor } from '../src/pieces/open-proposals.ts'

const token = (claims: object, signatureBytes = 256) =>
  [{ alg: 'RS256', kid: 'key' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(randomBytes(signatureBytes).toString('base64url'))
    .join('.')
const groups = (count: number) => Array.from({ length: count }, () => crypto.randomUUID())

t.test('an ID token comes out of its cookie as it went in', async (t) => {
  for (const claims of [{}, { name: 'José Ñandú 🂡', groups: groups(20) }, { text: 'x'.repeat(5_000) }]) {
    const before = token(claims)
    t.equal(unpackToken(packToken(before)), before)
  }
})

t.test('an ID token of 2 kB fits into a cookie of 4 kB, with room left', async (t) => {
  const before = token({ iss: 'https://identity.example', groups: groups(40) })
  t.ok(before.length > 2_000)
  t.ok(packToken(before).length < 2_900, `${before.length} characters, packed ${packToken(before).length}`)
})

t.test('what is not written as a JWS is refused, and does not come out as something else', async (t) => {
  t.throws(() => packToken('eyJ==.e30.c2ln'))
})

t.test('the count beside the menu asks every service that always runs: in production the reconciler too', async (t) => {
  const askedOf = async (resident: readonly ServiceName[]) => {
    const asked: ServiceName[] = []
    const call = async ({ service }: Operation) => {
      asked.push(service)
      return { data: [], nextCursor: null }
    }
    await proposalsFor({ resident, mayCall: () => true, call } as unknown as Person)
    return asked
  }
  t.notOk((await askedOf(residentServices)).includes('reconciler'))
  t.ok((await askedOf(serviceNames)).includes('reconciler'))
})
