import { allOperations, type Operation, operations, Rejection, teamConsole } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { newId } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import { DelegatedSigner, importSessionKey, PersonSigner, type TeamSigner } from '@backoffice/team-access/identity'
import { webhooks } from '@backoffice/webhooks'
import { Type } from '@sinclair/typebox'
import { decodeJwt, type JWK } from 'jose'
import t from 'tap'
import { unpackToken } from '../src/identity/cookies.ts'
import { type BrowserSession, consoleBed, consoleUrl, formOf, Visitor } from './console-bed.ts'

const { adjustWallet, listEntries } = operations.wallet
const { showPlayer, setPlayerStatus } = operations.players

/** What its caller fills in does not matter: who calls is asked first. */
const nothing = Type.Object({})
const unread = (operation: Operation): Operation => ({ ...operation, params: nothing, query: nothing, body: nothing })

/** Ending a session is let, too: nobody gains by it. */
const changes = allOperations.filter(
  ({ audience, kind, delegable, discloses }) =>
    audience === 'team' && (kind === 'query' ? discloses === true : delegable !== true),
)

const bed = await consoleBed(t, {}, {}, { gateway, webhooks })

// The console taken over: the keys of its cookies, its password of the broker, and the cookies of two people who work.
t.test('who has the console and the cookies of two people reads masked, and does nothing in their names', async (t) => {
  const playerId = await bed.newPlayer('production')
  const nats = await bed.bed.nats(teamConsole)
  const [alice, bob] = [await bed.sessionOf('alice'), await bed.sessionOf('bob')]

  /** Everything that somebody can sign with what is in the cookies. */
  async function signersOf(session: BrowserSession) {
    const { delegate, delegation, token } = await bed.stored(session)
    const key = await importSessionKey(delegate as JWK)
    const idToken = unpackToken(String(token))
    t.not(key.thumbprint, decodeJwt(idToken).nonce, 'the key in the cookie is not the one of the session')
    const common = { idToken, key, deployment: consoleUrl }
    const reader = new DelegatedSigner({ ...common, delegation: String(delegation) })
    return {
      reader,
      others: [new PersonSigner({ ...common, tool: 'console' }), new PersonSigner({ ...common, tool: 'command line' })],
    }
  }
  const signers = { alice: await signersOf(alice), bob: await signersOf(bob) }
  const outcomeOf = async (signer: TeamSigner, operation: Operation, input: unknown, approves?: string) => {
    const call = { input: input as never, operationId: newId('opn'), ...(approves === undefined ? {} : { approves }) }
    const refused = await new RpcClient(nats, signer).call(operation, call).then(
      () => undefined,
      (error) => error,
    )
    return refused instanceof Rejection ? refused.code : 'done'
  }

  await t.test('reads are masked', async (t) => {
    const shown = await new RpcClient(nats, signers.alice.reader).call(showPlayer, { input: { playerId } })
    t.match(shown, { name: 'Ana Souza', email: 'a***@example.com' })
    const unmasked = { playerId, unmask: true, reason: 'curious' }
    t.equal(await outcomeOf(signers.alice.reader, showPlayer, unmasked), 'SIGNATURE_REQUIRED')
  })

  await t.test('every operation that changes or discloses something is refused', async (t) => {
    t.ok(changes.length > 30)
    for (const operation of changes) {
      const name = `${operation.service}.${operation.id}`
      // What the provider says takes its own token, and no signature of a person.
      const refused = operation.byIdentityProvider ? 'LOGIN_REQUIRED' : 'SIGNATURE_REQUIRED'
      t.equal(await outcomeOf(signers.alice.reader, unread(operation), {}), refused, name)
      for (const signer of signers.alice.others)
        t.equal(await outcomeOf(signer, unread(operation), {}), 'LOGIN_REQUIRED', name)
    }
  })

  await t.test('both people together correct no balance, and block no player', async (t) => {
    const input = { playerId, amount: '1000000.00', reference: 'stolen', reason: 'neither typed this' }
    for (const { reader, others } of Object.values(signers))
      for (const signer of [reader, ...others]) {
        t.not(await outcomeOf(signer, adjustWallet, input), 'AWAITS_APPROVAL')
        t.not(await outcomeOf(signer, adjustWallet, input, 'prp_any'), 'done')
        t.not(await outcomeOf(signer, setPlayerStatus, { playerId, status: 'bloqueado', reason: 'x' }), 'done')
      }
    const team = bed.bed.team('carol')
    t.match(await team.call(listEntries, { input: { playerId, limit: 5 } }), { data: [], available: '0.00' })
    t.match(await team.call(showPlayer, { input: { playerId } }), { status: 'ativo' })
    const { data } = await team.call(operations.wallet.listProposals, { input: { limit: 5 } })
    t.same(data, [])
  })

  await t.test('a form that is sent with the cookies alone does nothing', async (t) => {
    const path = `/production/players/${playerId}`
    const { cookies } = alice
    const thief = new Visitor(bed.url, { cookies })
    t.equal((await thief.get(path)).status, 200)
    t.equal((await thief.submit(path, 'status', { status: 'bloqueado', reason: 'x' })).status, 422)
    t.match(await bed.bed.team('carol').call(showPlayer, { input: { playerId } }), { status: 'ativo' })
  })
})

t.test('one sees one’s own sessions, ends one of them, and then all', async (t) => {
  const [one, two] = [await bed.visitor('support'), await bed.visitor('support')]
  await one.get('/production')
  const list = await two.get('/production/sessions')
  t.equal(list.status, 200)
  t.equal(list.text.match(/this one/g)?.length, 1)
  const paths = [...list.text.matchAll(/href="(\/production\/sessions\/[\w-]+)"/g)].map(([, path = '']) => path)
  t.equal(paths.length, 2)
  const pages = await Promise.all(paths.map(async (path) => ({ path, shown: await two.get(path) })))
  const other = pages.find(({ shown }) => !shown.text.includes('this one'))?.path ?? ''
  t.match(await two.submit(other, 'end'), { status: 303, location: '/production/sessions' })
  t.match(await one.get('/production'), { status: 303, location: /why=ended/ })

  t.match(await two.submit('/production/sessions', 'endAll'), { status: 303 })
  t.match(await two.get('/production/sessions'), { status: 303, location: /why=ended/ })
})

t.test('who may lock finds the account under People; whoever is locked is told so', async (t) => {
  const [ines, carla] = [await bed.visitor('integration'), await bed.visitor('compliance')]
  await carla.get('/production')
  const people = await ines.get('/production/people')
  const [, row = ''] = /href="(\/production\/people\?member=[^"]*compliance)"/.exec(people.text) ?? []
  t.match((await ines.get(row)).text, /name="member"[^>]*>https:\/\/identity.test compliance</)
  const member = 'https://identity.test compliance'
  const lock = { ...formOf(people, '/production/people/lock'), member, reason: 'her laptop was stolen' }
  t.match(await ines.post('/production/people/lock', lock), { status: 303, location: '/production/people' })
  t.match((await ines.get('/production/people')).text, /id="locked"/)
  t.match(await carla.get('/production'), { status: 303, location: /why=locked/ })
  t.match((await (await bed.visitor('compliance')).get('/production')).location, /why=locked/, 'with a new login too')
  const unlock = { ...formOf(await ines.get('/production/people'), '/production/people/unlock'), member, reason: 'r' }
  t.match(await ines.post('/production/people/unlock', unlock), { status: 303 })
  t.match((await ines.get('/production/proposals')).text, /Unlock an account/)
  t.notMatch((await (await bed.visitor('finance')).get('/production/people')).text, /people\/lock/)
})
