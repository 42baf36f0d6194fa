import { operations } from '@backoffice/contracts'
import t, { type Test } from 'tap'
import {
  DelegatedSigner,
  identityOf,
  newSessionKey,
  type Proof,
  type RefusalReason,
  refusalOf,
  TeamVerifier,
  verifyDelegation,
} from '../src/index.ts'
import {
  because,
  browserKey,
  call,
  delegationOf,
  deployment,
  idToken,
  now,
  seconds,
  settings,
  signed,
} from './people.ts'

const verifier = new TeamVerifier(identityOf(settings))
const refusedBecause = (t: Test, reason: RefusalReason, proof: Proof, what: string = reason) =>
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
    await refusedBecause(t, reason, await signed({ delegation }), JSON.stringify(delegation))
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
  await refusedBecause(t, 'nonce', await sign(delegate, await of(mallory, delegate)), 'of another session')
  await refusedBecause(t, 'delegation', await sign(third, rightful), 'of another key')
  await refusedBecause(t, 'nonce', await sign(third, await of(delegate, third)), 'nested')
  const named = { ...mallory, publicJwk: alice.publicJwk }
  await refusedBecause(t, 'signature', await sign(delegate, await of(named, delegate)), 'forged')
  await refusedBecause(t, 'signature', await sign({ ...third, publicJwk: delegate.publicJwk }, rightful))
  await refusedBecause(t, 'signature', await sign(delegate, 'no.delegation'))
  const { proof } = await signed({ key: alice })
  await refusedBecause(t, 'signature', await sign(alice, proof), 'the signature of a call')
  await refusedBecause(t, 'signature', { idToken: login.idToken, proof: rightful }, 'and is itself no call')
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
