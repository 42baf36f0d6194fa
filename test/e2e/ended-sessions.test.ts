import { operations, Rejection, type ServiceName, serviceNames, teamConsole } from '@backoffice/contracts'
import { RpcClient } from '@backoffice/rpc'
import { newSessionKey, PersonSigner } from '@backoffice/team-access/identity'
import {
  byTwo,
  eventually,
  holdOpen,
  type LoginOptions,
  proposalOf,
  refusal,
  type TeamUser,
  TestIssuer,
  testBed,
} from '@backoffice/test-kit'
import t from 'tap'
import { services } from '../services.ts'

// Whoever has a copy of a session, be it a cookie or a file, may act as its person until it ends.

const bed = await testBed(t, services)
const { gateway } = operations

/** A login whose key and ID token are used again and again, as a thief would. */
async function session(user: TeamUser, login: LoginOptions = {}) {
  const key = await newSessionKey()
  const { deployment } = bed.issuer
  const idToken = bed.issuer.idToken(user, key, login)
  const signer = new PersonSigner({ idToken, key, deployment, tool: 'console' })
  return { rpc: new RpcClient(await bed.nats(teamConsole), signer), thumbprint: key.thumbprint }
}

const accountOf = (user: TeamUser) => `https://identity.test ${user}`
/** A login after all that was ended in this second. */
const later: LoginOptions = { loggedInSecondsAgo: -3 }

const look = ({ rpc }: { readonly rpc: Pick<RpcClient, 'call'> }, service: ServiceName) =>
  rpc.call(operations[service].listProposals, { input: { limit: 1 } })

/** Why each service refuses a session; null where it does not. */
const reasons = (who: { readonly rpc: Pick<RpcClient, 'call'> }) =>
  Promise.all(serviceNames.map((service) => reasonOf(look(who, service))))

async function reasonOf(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => null,
    (fault: unknown) => fault,
  )
  if (error === null) return null
  if (!(error instanceof Rejection) || error.code !== 'LOGIN_REQUIRED') throw error
  return error.details?.reason
}
const everywhere = (reason: string | null) => serviceNames.map(() => reason)

t.test('a session that its person ended is refused by every service, and no other session is', async (t) => {
  const [ended, other] = [await session('support'), await session('support')]
  t.same(await reasons(ended), everywhere(null))
  await ended.rpc.call(gateway.endSession, { input: { session: ended.thumbprint } })
  t.same(await reasons(ended), everywhere('session ended'))
  t.same(await reasons(other), everywhere(null))
  const again = ended.rpc.call(gateway.endSession, { input: { session: other.thumbprint } })
  t.equal(await refusal(again), 'LOGIN_REQUIRED', 'it ends nothing any more')
})

t.test('one ends all of one’s sessions from any of them, and logs in anew', async (t) => {
  const [lost, here, somebody] = [await session('finance'), await session('finance'), await session('compliance')]
  await here.rpc.call(gateway.endSession, { input: {} })
  for (const mine of [lost, here]) t.same(await reasons(mine), everywhere('session ended'))
  t.same(await reasons(somebody), everywhere(null))
  t.same(await reasons(await session('finance', later)), everywhere(null))
})

t.test('nobody ends the session of somebody else', async (t) => {
  const [mine, theirs] = [await session('integration'), await session('compliance')]
  await mine.rpc.call(gateway.endSession, { input: { session: theirs.thumbprint } })
  t.same(await reasons(theirs), everywhere(null))
})

t.test('what was ended while a service was away is ended when it comes back', async (t) => {
  const who = await session('support')
  await look(who, 'webhooks')
  await bed.services.webhooks.drain()
  await who.rpc.call(gateway.endSession, { input: { session: who.thumbprint } })
  await bed.start('webhooks')
  t.equal(await reasonOf(look(who, 'webhooks')), 'session ended')
})

t.test('one’s own sessions are listed while they may act, each by the services that it has called', async (t) => {
  const [one, two] = [await session('compliance', later), await session('compliance', later)]
  await look(one, 'payments')
  const listed = async () => {
    const { data } = await two.rpc.call(operations.payments.listOwnSessions, { input: {} })
    return data.filter(({ session }) => [one.thumbprint, two.thumbprint].includes(session))
  }
  t.match(await listed(), [{ session: two.thumbprint }, { session: one.thumbprint, client: 'backoffice-cli' }])
  await two.rpc.call(gateway.endSession, { input: { session: one.thumbprint } })
  t.match(await listed(), [{ session: two.thumbprint }])
  const support = await session('support', later)
  const { data: theirs } = await support.rpc.call(operations.payments.listOwnSessions, { input: {} })
  t.notOk(
    theirs.some(({ session }) => session === two.thumbprint),
    'nobody else’s',
  )
  t.ok(theirs.some(({ session }) => session === support.thumbprint))
})

t.test('a locked person is refused everywhere, with new logins too, and comes back by two others', async (t) => {
  const [before, bob] = [await session('alice'), bed.team('bob')]
  const input = { member: accountOf('alice'), reason: 'her laptop was stolen' }
  t.equal(await refusal(bed.team('support').call(gateway.lockTeamMember, { input })), 'ROLE_REQUIRED')
  const old = bed.team('bob', { loggedInSecondsAgo: 600 }).call(gateway.lockTeamMember, { input })
  t.equal(await refusal(old), 'FRESH_LOGIN_REQUIRED')
  await bob.call(gateway.lockTeamMember, { input })
  t.same(await reasons(before), everywhere('locked'))
  t.same(await reasons(await session('alice', later)), everywhere('locked'))
  t.equal(await reasonOf(before.rpc.call(gateway.endSession, { input: {} })), 'locked')
  t.equal(await reasonOf(bed.team('alice').call(gateway.unlockTeamMember, { input })), 'locked')
  t.same((await bob.call(gateway.listLockedMembers, { input: {} })).data, [{ member: accountOf('alice') }])

  const unlock = { ...input, reason: 'she has another one' }
  const { proposalId: approves } = await proposalOf(bob.call(gateway.unlockTeamMember, { input: unlock }))
  t.equal(await reasonOf(bed.team('alice').call(gateway.unlockTeamMember, { input: unlock, approves })), 'locked')
  t.same(await reasons(await session('alice', later)), everywhere('locked'), 'one of two is not enough')
  await bed.team('carol').call(gateway.unlockTeamMember, { input: unlock, approves })
  t.same(await reasons(before), everywhere('session ended'), 'what the thief has stays ended')
  t.same(await reasons(await session('alice', later)), everywhere(null))
  t.same((await bob.call(gateway.listLockedMembers, { input: {} })).data, [])
})

t.test('a machine is locked by its name, and nobody locks themselves by a slip', async (t) => {
  const input = { member: 'machine nightly', reason: 'its key has leaked' }
  const own = { member: accountOf('bob'), reason: 'a slip' }
  t.equal(await refusal(bed.team('bob').call(gateway.lockTeamMember, { input: own })), 'VALIDATION_ERROR')
  await bed.team('bob').call(gateway.lockTeamMember, { input })
  t.same(await reasons({ rpc: bed.machine() }), everywhere('locked'))
  await byTwo({ team: (user) => bed.team(user === 'alice' ? 'carol' : user) }, gateway.unlockTeamMember, input)
  // What it signed in that second is from before.
  await eventually(async () => (await reasonOf(look({ rpc: bed.machine() }, 'wallet'))) === null)
})

t.test('a call that a service has taken before goes on; the next one is refused', async (t) => {
  const { operatorId } = await bed.team('bob').call(gateway.createOperator, { input: { name: 'waiting' } })
  const who = await session('integration', later)
  const row = await holdOpen(bed.sql('admin'), 'select from gateway.operator where id = $1 for update', [operatorId])
  const input = { operatorId, seen: { name: 'waiting', status: 'active' } } as const
  const waiting = who.rpc.call(gateway.activateOperator, { input })
  await row.isAwaited()
  await bed.team('bob').call(gateway.lockTeamMember, { input: { member: accountOf('integration'), reason: 'leaves' } })
  await row.rollback()
  t.match(await waiting, { id: operatorId })
  t.equal(await reasonOf(who.rpc.call(gateway.activateOperator, { input })), 'locked')
})

const logoutEvent = { 'http://schemas.openid.net/event/backchannel-logout': {} }

/** A logout token is signed like an ID token. What it says besides, and of what key no signature goes with it. */
async function logOut(
  claims: Readonly<Record<string, unknown>>,
  { login = {}, issuer = bed.issuer, from = 'auditor' as TeamUser } = {},
) {
  const said = { nonce: undefined, auth_time: undefined, jti: 'logout', events: logoutEvent, ...claims }
  const token = issuer.idToken(from, await newSessionKey(), { ...login, claims: said })
  return passOn(token)
}
const passOn = async (idToken: string) =>
  new RpcClient(await bed.nats(teamConsole), { sign: async () => ({ idToken, proof: '' }) }).call(
    gateway.endProviderSession,
    { input: {} },
  )

t.test('a logout token of the provider ends the session that it names, or all of the person', async (t) => {
  const named = (sid: string) => session('auditor', { claims: { sid } })
  const [one, other, unnamed] = [await named('one'), await named('other'), await session('auditor')]
  await logOut({ sid: 'one' })
  t.same(await reasons(one), everywhere('session ended'))
  t.same(await reasons(unnamed), everywhere('session ended'), 'it may be that one')
  t.same(await reasons(other), everywhere(null))
  await logOut({})
  t.same(await reasons(other), everywhere('session ended'))
  t.same(await reasons(await session('auditor', later)), everywhere(null))
  const { rows } = await bed
    .sql('admin')
    .query("select distinct actor, proof, input::text from gateway.audit_entry where operation = 'endProviderSession'")
  t.same(rows, [{ actor: 'identity provider', proof: null, input: JSON.stringify({ member: accountOf('auditor') }) }])
})

t.test(
  'a logout token that names a session alone ends that one, whoever has it, and none without a name',
  async (t) => {
    const [one, other] = [await session('finance', { claims: { sid: 'alone' } }), await session('finance')]
    const stranger = await session('support', { claims: { sid: 'another' } })
    await logOut({ sub: undefined, sid: 'alone' }, { from: 'finance' })
    t.same(await reasons(one), everywhere('session ended'))
    t.same(await reasons(other), everywhere(null))
    t.same(await reasons(stranger), everywhere(null))
  },
)

t.test('a logout token that is none ends nothing', async (t) => {
  const who = await session('compliance', later)
  const from = 'compliance'
  const stranger = new TestIssuer()
  t.teardown(() => stranger.remove())
  const forged: Readonly<Record<string, () => Promise<unknown>>> = {
    'an ID token': () => who.rpc.call(gateway.endProviderSession, { input: {} }),
    'with a nonce': () => logOut({ nonce: 'x' }, { from }),
    'without events': () => logOut({ events: undefined }, { from }),
    'of another event': () => logOut({ events: { 'http://schemas.openid.net/event/other': {} } }, { from }),
    'without jti': () => logOut({ jti: undefined }, { from }),
    'without sub and sid': () => logOut({ sub: undefined }, { from }),
    'without sub, of another session': () => logOut({ sub: undefined, sid: 'of nobody' }, { from, issuer: stranger }),
    'without iat': () => logOut({ iat: undefined }, { from }),
    'for another client': () => logOut({ aud: 'another' }, { from }),
    'of another issuer': () => logOut({ iss: 'https://elsewhere.test' }, { from }),
    'with a sid that is no text': () => logOut({ sid: 1 }, { from }),
    'too old': () => logOut({}, { from, login: { loggedInSecondsAgo: 300 } }),
    over: () => logOut({ exp: 1 }, { from }),
    'of the future': () => logOut({}, { from, login: { loggedInSecondsAgo: -300 } }),
    'signed with another key': () => logOut({}, { from, issuer: stranger }),
    'not signed': () => passOn(`${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`),
    'no token': () => passOn('x'),
  }
  for (const [what, call] of Object.entries(forged)) t.equal(await refusal(call()), 'LOGIN_REQUIRED', what)
  t.same(await reasons(who), everywhere(null))
})

t.test('a logout token that is sent again ends nothing that was begun since', async (t) => {
  await logOut({}, { from: 'support', login: { loggedInSecondsAgo: 30 } })
  const who = await session('support', later)
  await logOut({}, { from: 'support', login: { loggedInSecondsAgo: 30 } })
  t.same(await reasons(who), everywhere(null))
})
