import { once } from 'node:events'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Operation, operations } from '@backoffice/contracts'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import {
  type CallToProve,
  DelegatedSigner,
  identityFrom,
  identityOf,
  KeysUnavailable,
  MachineSigner,
  newSessionKey,
  nonceOf,
  PersonSigner,
  type Proof,
  type RefusalReason,
  refusalOf,
  TeamVerifier,
  verifyDelegation,
} from '../../src/identity/index.ts'
import { keysOfIssuer } from '../../src/identity/issuer-keys.ts'
import {
  because,
  browserKey,
  call,
  delegationOf,
  deployment,
  dir,
  type Given,
  idToken,
  issuer,
  machine,
  now,
  provider,
  seconds,
  settings,
  signed,
  stranger,
} from './people.ts'

const verifier = new TeamVerifier(identityOf(settings))

const refusedBecause = (t: Test, reason: RefusalReason, proof: Partial<Proof>, of: CallToProve = call, at = now) =>
  t.rejects(verifier.verify(of, proof, at), because(reason), reason)

t.test(
  'a person is who the provider says, with the roles of their groups, until the working day is over',
  async (t) => {
    const key = await newSessionKey()
    const proof = await signed({ key })
    const caller = await verifier.verify(call, proof, now)
    t.match(caller, { kind: 'person', name: 'alice@example.com', session: key.thumbprint, tool: 'console' })
    t.same([...caller.roles], ['finance'], 'a group without roles gives none')
    t.equal(caller.loggedInAt?.getTime(), now.getTime() - 600_000)

    const late = new Date(now.getTime() + 9 * 3_600_000)
    t.ok(await verifier.verify(call, await signed({ key, at: late }), late), 'although the ID token says it expired')
    const over = new Date(now.getTime() + 10 * 3_600_000)
    await refusedBecause(t, 'session over', await signed({ key, at: over }), call, over)
    const early = new Date(now.getTime() - 12 * 60_000)
    await refusedBecause(t, 'ID token', await signed({ key, at: early }), call, early)
  },
)

t.test('a session that asked for an hour has no more, whoever has its key', async (t) => {
  const key = await newSessionKey()
  const loginAt = { iat: seconds(now), auth_time: seconds(now) }
  const at = (minutes: number) => new Date(now.getTime() + minutes * 60_000)
  const proof = (nonce: string, minutes: number) => signed({ key, at: at(minutes), claims: { ...loginAt, nonce } })
  const hour = nonceOf(key.thumbprint, 1)
  t.match(await verifier.verify(call, await proof(hour, 59), at(59)), { session: key.thumbprint })
  await refusedBecause(t, 'session over', await proof(hour, 60), call, at(60))
  const longer = nonceOf(key.thumbprint, 24)
  await refusedBecause(t, 'session over', await proof(longer, 600), call, at(600))
  await refusedBecause(t, 'nonce', await proof(`h.${key.thumbprint}`, 1), call, at(1))
})

t.test('an ID token counts only from our provider, for our clients, and for the key that signs', async (t) => {
  await refusedBecause(t, 'ID token', await signed({ signedBy: stranger }))
  const both = ['newsletter', 'backoffice-cli']
  for (const [reason, claims] of [
    ['issuer', { iss: 'https://id.example.org' }],
    ['audience', { aud: 'newsletter' }],
    ['audience', { aud: both, azp: 'newsletter' }],
    ['audience', { aud: both }],
    ['nonce', { nonce: 'another' }],
    ['ID token', { nonce: undefined }],
    // A provider says it only when it is asked to. Without it, a new token would pass for a new login.
    ['ID token', { auth_time: undefined }],
    ['ID token', { iat: seconds(now) + 120 }],
    ['name', { email: undefined }],
    ['name', { email_verified: false }],
  ] as const)
    await refusedBecause(t, reason, await signed({ claims }))
  t.ok(await verifier.verify(call, await signed({ claims: { aud: both, azp: 'backoffice-cli' } }), now))
  await refusedBecause(t, 'no proof', {})
})

t.test('no ID token is accepted that is signed with a shared secret, or not at all', async (t) => {
  const key = await newSessionKey()
  const { proof } = await signed({ key })
  const [header, payload] = (await idToken(key)).split('.')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  await refusedBecause(t, 'ID token', { idToken: `${none}.${payload}.`, proof })
  await refusedBecause(t, 'ID token', { idToken: `${header}.${payload}.AAAA`, proof })
  const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(provider.publicKey)))
  const hmac = await new SignJWT({ iss: issuer, aud: 'backoffice-cli', nonce: key.thumbprint })
    .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
    .sign(secret)
  await refusedBecause(t, 'ID token', { idToken: hmac, proof })
})

t.test('a signature is for one call, made now', async (t) => {
  const proof = await signed()
  await refusedBecause(t, 'call', proof, { ...call, operationId: 'opn_2' })
  await refusedBecause(t, 'call', proof, { ...call, operation: 'wallet.adjustWallet' })
  await refusedBecause(t, 'call', proof, { ...call, input: { withdrawalId: 'wdr_1', decision: 'pay' } })
  await refusedBecause(t, 'call', proof, { ...call, approves: 'prp_1' })
  t.ok(
    await verifier.verify({ ...call, input: { decision: 'approve', withdrawalId: 'wdr_1' } }, proof, now),
    'in any order',
  )
  const later = (s: number) => new Date(now.getTime() + s * 1_000)
  t.ok(await verifier.verify(call, proof, later(119)))
  await refusedBecause(t, 'signed at another time', proof, call, later(121))
  await refusedBecause(t, 'signed at another time', await signed({ at: later(120) }))
})

t.test('what is signed for another deployment is worth nothing, of a person and of a machine', async (t) => {
  const staging = 'https://console.staging.example.com'
  const key = await newSessionKey()
  const login = { idToken: await idToken(key), key, tool: 'command line', now: () => now } as const
  await refusedBecause(t, 'deployment', await new PersonSigner({ ...login, deployment: staging }).sign(call))
  t.ok(await verifier.verify(call, await new PersonSigner({ ...login, deployment }).sign(call), now))
  const { privateKey } = machine
  const signer = new MachineSigner({ name: 'nightly', privateKey, deployment: staging, now: () => now })
  await refusedBecause(t, 'deployment', await signer.sign(call))
})

t.test("nobody signs with another's session", async (t) => {
  const [alice, mallory] = [await newSessionKey(), await newSessionKey()]
  const login = { idToken: await idToken(alice), deployment, tool: 'console', now: () => now } as const
  await refusedBecause(t, 'nonce', await new PersonSigner({ ...login, key: mallory }).sign(call))
  // The key of Alice is named, and the signature is Mallory's.
  const forged = new PersonSigner({ ...login, key: { ...mallory, publicJwk: alice.publicJwk } })
  await refusedBecause(t, 'signature', await forged.sign(call))
  await refusedBecause(t, 'signature', { idToken: login.idToken, proof: 'not.a.jws' })
  // The ID token itself is signed by the provider, and is no signature of a call.
  await refusedBecause(t, 'nonce', { idToken: login.idToken, proof: login.idToken })
})

t.test('a machine is known by its key, and is nobody else', async (t) => {
  const signedBy = ({ privateKey } = machine, name = 'nightly') =>
    new MachineSigner({ name, privateKey, deployment, now: () => now }).sign(call)
  const caller = await verifier.verify(call, await signedBy(), now)
  t.match(caller, { kind: 'machine', name: 'nightly', loggedInAt: undefined, tool: 'program' })
  t.same([...caller.roles], ['finance'])
  const other = await generateKeyPair('EdDSA', { extractable: true })
  await refusedBecause(t, 'signature', await signedBy(other))
  await refusedBecause(t, 'machine', await signedBy(machine, 'hourly'))
})

t.test(
  'the file of keys counts as it is now: with one that it has since a moment ago, without one that it lost',
  async (t) => {
    const file = join(dir, 'new-keys.json')
    const published = { ...(await exportJWK(provider.publicKey)), alg: 'RS256' }
    const write = (kid: string, at: number) => {
      writeFileSync(file, JSON.stringify({ keys: [{ ...published, kid }] }))
      utimesSync(file, at, at)
    }
    write('k0', 1_000)
    const reading = new TeamVerifier({ ...identityOf(settings), keysFile: file })
    await t.rejects(reading.verify(call, await signed(), now), because('ID token'))
    write('k1', 2_000)
    const key = await newSessionKey()
    t.ok(await reading.verify(call, await signed({ key }), now))
    write('k0', 3_000)
    // Although the session was verified before.
    await t.rejects(reading.verify(call, await signed({ key }), now), because('ID token'))
    rmSync(file)
    await t.rejects(reading.verify(call, await signed({ key }), now), KeysUnavailable)
  },
)

t.test('a login that lies ahead is not a fresh one', (t) => {
  const { adjustWallet } = operations.wallet
  const caller = { roles: new Set(['finance'] as const), lacking: undefined, delegated: false }
  const refusal = (secondsAhead: number) =>
    refusalOf(adjustWallet, {}, { ...caller, loggedInAt: new Date(now.getTime() + secondsAhead * 1_000) }, now)
  t.equal(refusal(59), undefined, 'clocks differ')
  t.match(refusal(61), { code: 'FRESH_LOGIN_REQUIRED' })
  t.end()
})

t.test('where a second factor is wanted, money and keys take a token that says so', async (t) => {
  const { adjustWallet, listEntries } = operations.wallet
  const at = { iat: seconds(now), auth_time: seconds(now) }
  const strict = (strong: object) => new TeamVerifier(identityOf({ ...settings, ...strong }))
  async function refusal(strong: object, claims: object, operation: Operation = adjustWallet) {
    const caller = await strict(strong).verify(call, await signed({ claims: { ...at, ...claims } }), now)
    return refusalOf(operation, {}, caller, now)
  }
  const acr = { TEAM_STRONG_ACR: 'phr,phrh' }
  const amr = { TEAM_STRONG_AMR: 'hwk,mfa' }
  for (const [strong, claims, lacking] of [
    [{}, {}, undefined],
    [acr, {}, { acr: ['phr', 'phrh'] }],
    [acr, { acr: '1' }, { acr: ['phr', 'phrh'] }],
    [acr, { acr: 'phrh' }, undefined],
    [amr, { amr: ['pwd'], acr: 'phr' }, { amr: ['hwk', 'mfa'] }],
    [amr, { amr: 'mfa' }, undefined],
    [{ ...acr, ...amr }, { amr: ['pwd', 'mfa'] }, { acr: ['phr', 'phrh'] }],
    [{ ...acr, ...amr }, { acr: 'phr', amr: ['pwd', 'mfa'] }, undefined],
    [{ ...acr, TEAM_ACR_CLAIM: 'acrs' }, { acrs: ['c2', 'phr'] }, undefined],
    [{ ...acr, TEAM_ACR_CLAIM: 'acrs' }, { acr: 'phr' }, { acrs: ['phr', 'phrh'] }],
  ] as const) {
    const refused = await refusal(strong, claims)
    t.equal(refused?.code, lacking && 'FRESH_LOGIN_REQUIRED')
    t.same(refused?.details?.lacking, lacking)
    t.equal(await refusal(strong, claims, listEntries), undefined, 'to read, any login does')
  }
  t.throws(() => identityFrom({ TEAM_STRONG_ACR: 'phr, c1' }), /TEAM_STRONG_ACR/)
})

/** A provider at an address of its own, which answers as it is told. */
async function providerAt(t: Test) {
  let answer = (_path: string): [number, unknown] => [503, {}]
  const server = createServer((request, response) => {
    const [status, body] = answer(request.url ?? '')
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const address = `http://127.0.0.1:${port}`
  const published = { keys: [{ ...(await exportJWK(provider.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }] }
  const discovery = { issuer: address, jwks_uri: `${address}/keys` }
  return {
    /** Answers with its keys, or with these; or not with keys. */
    publishes: (keys: unknown = published, status = 200) =>
      (answer = (path) => (path === '/keys' ? [status, keys] : [200, discovery])),
    isAway: () => (answer = () => [503, {}]),
    signed: (given: Given = {}) => signed({ ...given, claims: { iss: address } }),
    verifier: (options?: Parameters<typeof keysOfIssuer>[1]) =>
      new TeamVerifier(
        { ...identityOf(settings), issuer: address, keysFile: undefined },
        options && keysOfIssuer(address, options),
      ),
  }
}

t.test('a provider that cannot give its keys refuses nobody: the keys are unavailable', async (t) => {
  const { signed, verifier, publishes } = await providerAt(t)
  const asking = verifier()
  const proof = await signed()
  await t.rejects(asking.verify(call, proof, now), KeysUnavailable, 'discovery fails')
  publishes({}, 500)
  await t.rejects(asking.verify(call, proof, now), KeysUnavailable, 'the keys fail')
  publishes({ keys: 'none' })
  await t.rejects(asking.verify(call, proof, now), KeysUnavailable, 'the keys are no keys')
  publishes()
  t.match(await asking.verify(call, proof, now), { name: 'alice@example.com' }, 'as soon as they are there')
  await t.rejects(asking.verify(call, await signed({ signedBy: stranger }), now), because('ID token'))
})

t.test('keys that were read count for a time although the provider is away, and then no more', async (t) => {
  const { signed, verifier, isAway, publishes } = await providerAt(t)
  const [kept, notKept] = [verifier({ freshMs: 0 }), verifier({ freshMs: 0, keptMsMax: 0 })]
  publishes()
  for (const each of [kept, notKept]) t.ok(await each.verify(call, await signed(), now))
  isAway()
  t.ok(await kept.verify(call, await signed(), now), 'somebody who logged in before, and is new to this process')
  await t.rejects(notKept.verify(call, await signed(), now), KeysUnavailable)
})

t.test('who is logged in with a key that the provider withdraws is nobody from the next reading on', async (t) => {
  const { signed, verifier, publishes } = await providerAt(t)
  const asking = verifier({ freshMs: 0 })
  const proof = await signed()
  publishes()
  t.ok(await asking.verify(call, proof, now))
  publishes({ keys: [] })
  // They are read beside the calls, which do not wait for it.
  const verdict = async () => {
    for (;;) await asking.verify(call, proof, now)
  }
  await t.rejects(verdict(), because('ID token'))
})

t.test('settings that are wrong are named', async (t) => {
  t.throws(() => identityOf({ ...settings, TEAM_GROUP_ROLES: '{"x": ["king"]}' }), /TEAM_GROUP_ROLES/)
  t.throws(() => identityOf({ ...settings, TEAM_GROUP_ROLES: 'x' }), /TEAM_GROUP_ROLES: is not JSON/)
  t.throws(() => identityFrom({ TEAM_SESSION_HOURS: '25' }), /TEAM_SESSION_HOURS: /)
  const { TEAM_DEPLOYMENT: _deployment, ...nowhere } = settings
  t.throws(() => identityOf(nowhere), /TEAM_DEPLOYMENT: is required/)
  for (const TEAM_DEPLOYMENT of ['console.example.com', 'https://Console.example.com', `${deployment}/`])
    t.throws(() => identityOf({ ...settings, TEAM_DEPLOYMENT }), /TEAM_DEPLOYMENT: is no origin/)
  t.match(identityFrom({ TEAM_SESSION_HOURS: '8', TEAM_KEYS_FILE: '' }), { sessionHours: 8, keysFile: undefined })
  const { TEAM_ISSUER: _issuer, ...without } = settings
  await t.rejects(new TeamVerifier(identityOf(without)).verify(call, await signed(), now), because('not configured'))
})

const refusedFor = (t: Test, reason: RefusalReason, proof: Proof, what: string = reason) =>
  t.rejects(verifier.verify(call, proof, now), because(reason), what)

t.test('a key that a session lets read speaks for its person, of either kind', async (t) => {
  for (const newKey of [newSessionKey, browserKey]) {
    const key = await newKey()
    const caller = await verifier.verify(call, await signed({ key, delegation: {} }), now)
    t.match(caller, { name: 'alice@example.com', session: key.thumbprint, delegated: true, tool: 'console' })
    t.match(await verifier.verify(call, await signed({ key }), now), { session: key.thumbprint, delegated: false })
  }
})

t.test('a delegation counts for one key, here, and no longer than a session', async (t) => {
  const hours = (count: number) => ({ iat: seconds(now), exp: seconds(now) + count * 3_600 })
  t.ok(await verifier.verify(call, await signed({ delegation: hours(10) }), now))
  const ago = { iat: seconds(now) - 3_600, exp: seconds(now) }
  for (const [reason, delegation] of [
    ['delegation', { delegate: (await newSessionKey()).thumbprint }],
    ['delegation', { exp: hours(10).exp + 1 }],
    ['delegation', { iat: seconds(now) + 61, exp: seconds(now) + 120 }],
    ['session over', ago],
    ['deployment', { aud: 'https://console.staging.example.com' }],
    ['call', { exp: undefined }],
    ['call', { delegate: undefined }],
  ] as const)
    await refusedFor(t, reason, await signed({ delegation }), JSON.stringify(delegation))
})

t.test('a delegation counts for the session that signed it, and cannot be passed on', async (t) => {
  const [alice, mallory, delegate, third] = await Promise.all([
    browserKey(),
    browserKey(),
    newSessionKey(),
    newSessionKey(),
  ])
  const login = { idToken: await idToken(alice), deployment, now: () => now }
  const sign = (key: typeof delegate, delegation: string) =>
    new DelegatedSigner({ ...login, key, delegation }).sign(call)
  const of = (one: typeof alice, other: typeof alice) => delegationOf(one, { delegate: other.thumbprint })
  const rightful = await of(alice, delegate)
  t.ok(await verifier.verify(call, await sign(delegate, rightful), now))
  await refusedFor(t, 'nonce', await sign(delegate, await of(mallory, delegate)), 'of another session')
  await refusedFor(t, 'delegation', await sign(third, rightful), 'of another key')
  await refusedFor(t, 'nonce', await sign(third, await of(delegate, third)), 'nested')
  const named = { ...mallory, publicJwk: alice.publicJwk }
  await refusedFor(t, 'signature', await sign(delegate, await of(named, delegate)), 'forged')
  await refusedFor(t, 'signature', await sign({ ...third, publicJwk: delegate.publicJwk }, rightful))
  await refusedFor(t, 'signature', await sign(delegate, 'no.delegation'))
  const { proof } = await signed({ key: alice })
  await refusedFor(t, 'signature', await sign(alice, proof), 'the signature of a call')
  await refusedFor(t, 'signature', { idToken: login.idToken, proof: rightful }, 'and is itself no call')
  const expected = { session: alice.thumbprint, delegate: delegate.thumbprint, deployment, sessionHours: 10 }
  t.match(await verifyDelegation(rightful, expected, now), { delegate: delegate.thumbprint })
  await t.rejects(verifyDelegation(undefined, expected, now), because('signature'))
})

t.test('who may only read for a person reads what is masked, and nothing else', (t) => {
  const { adjustWallet, listEntries } = operations.wallet
  const { exportPlayer, showPlayer, setPlayerStatus } = operations.players
  const codeOf = (operation: Parameters<typeof refusalOf>[0], input: object, delegated: boolean) => {
    const caller = {
      roles: new Set(['finance', 'compliance'] as const),
      loggedInAt: now,
      lacking: undefined,
      delegated,
    }
    return refusalOf(operation, input, caller, now)?.code
  }
  for (const [operation, input] of [
    [adjustWallet, {}],
    [setPlayerStatus, {}],
    [exportPlayer, { reason: 'r' }],
    [showPlayer, { unmask: true, reason: 'r' }],
  ] as const) {
    t.equal(codeOf(operation, input, true), 'SIGNATURE_REQUIRED', operation.id)
    t.equal(codeOf(operation, input, false), undefined, operation.id)
  }
  t.equal(codeOf(showPlayer, {}, true), undefined)
  t.equal(codeOf(listEntries, { reason: 'r' }, true), undefined)
  t.equal(codeOf({ ...setPlayerStatus, delegable: true }, {}, true), undefined, 'where the table says so')
  t.end()
})
