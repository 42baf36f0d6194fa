import { operations } from '@backoffice/contracts'
import { newReplyKey } from '@backoffice/team-access/identity'
import t from 'tap'
import { consoleBed } from './console-bed.ts'

const { kycQueue, decideKyc, showPlayer } = operations.players
const { makePaymentFile } = operations.payments
const { adjustWallet } = operations.wallet
const input = { limit: 5 }
const operationId = 'opn_relay_1'
const call = { operationId, input }

t.test('the relay', async (t) => {
  const company = { bank: '001', bankName: 'Banco do Brasil', cnpj: '11222333000181', company: 'Azul' }
  const bank = { ...company, agreement: '123456', branch: '1234', account: '98765' }
  const bed = await consoleBed(t, { CONSOLE_CALLS_PER_MINUTE: '20', CONSOLE_BANK_AGREEMENT: JSON.stringify(bank) })
  const seen: string[] = []
  const nats = await bed.bed.nats('players')
  nats.subscribe('team.players.*', { callback: (_error, { subject }) => void seen.push(subject) })
  await nats.flush()

  const post = async (path: string, headers: Record<string, string>, body: unknown = input) => {
    const response = await fetch(`${bed.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, reply: text === '' ? undefined : JSON.parse(text), headers: response.headers }
  }
  const queue = '/calls/players/kycQueue'

  await t.test('passes a signed call on, and the reply back', async (t) => {
    const playerId = await bed.newPlayer('production')
    const { status, reply } = await post(queue, await bed.signedHeaders(kycQueue, call))
    t.equal(status, 200)
    t.equal(reply.data[0].playerId, playerId)
    await nats.flush()
    t.strictSame(seen, ['team.players.kycQueue'])
  })

  await t.test('passes on what is shown unmasked as it is sealed, to a key that is the caller’s', async (t) => {
    const playerId = await bed.newPlayer('production')
    const { sealTo, open } = await newReplyKey()
    const body = { playerId, unmask: true, reason: 'a court asks' }
    const path = '/calls/players/showPlayer'
    const { status, reply } = await post(
      path,
      await bed.signedHeaders(showPlayer, { operationId, input: body, sealTo }),
      body,
    )
    t.equal(status, 200)
    t.same(Object.keys(reply), ['sealed'])
    t.match(await open(reply), { id: playerId, cpf: '52998224725' })
    const other = await newReplyKey()
    await t.rejects(other.open(reply), /decryption operation failed/)
    const unsealed = await post(path, await bed.signedHeaders(showPlayer, { operationId, input: body }), body)
    t.equal(unsealed.status, 422)
  })

  await t.test('passes on what the service refuses with, under the status of its code', async (t) => {
    const body = { playerId: 'ply_x', submission: null, seen: null, status: 'aprovado', reason: 'clear' }
    const headers = await bed.signedHeaders(decideKyc, { operationId, input: body }, 'support')
    const { status, reply } = await post('/calls/players/decideKyc', headers, body)
    t.equal(status, 403)
    t.equal(reply.error.code, 'ROLE_REQUIRED')
    t.equal(typeof reply.error.message, 'string')
  })

  await t.test('passes on no batch of another agreement than the one that it is written for', async (t) => {
    const sent = async (agreement: string) => {
      const body = { ids: ['wdr_nobody'], batchNumber: 1, agreement }
      const headers = await bed.signedHeaders(makePaymentFile, { operationId, input: body }, 'bob')
      return post('/calls/payments/makePaymentFile', headers, body)
    }
    const other = await sent('001 654321')
    t.equal(other.status, 422)
    t.match(other.reply.error.details.issues, [{ path: '/agreement', message: /001 123456/ }])
    t.equal((await sent('001 123456')).reply.error.code, 'WITHDRAWAL_NOT_FOUND')
  })

  await t.test('takes two people where the operation does: the second one names the proposal', async (t) => {
    const playerId = await bed.newPlayer('production')
    const { operatorId, environment, currency } = bed.bed.scope({ environment: 'production' })
    const shown = { operatorId, environment, currency }
    const body = { playerId, amount: '5.00', reference: 'goodwill-1', seen: shown, reason: 'agreed with the operator' }
    const path = '/calls/wallet/adjustWallet'
    const first = { operationId: 'opn_first', input: body }
    const proposed = await post(path, await bed.signedHeaders(adjustWallet, first, 'alice'), body)
    t.equal(proposed.status, 202)
    t.equal(proposed.reply.error.code, 'AWAITS_APPROVAL')
    const approves = proposed.reply.error.details.proposalId
    const second = { operationId: 'opn_second', input: body, approves }
    const own = await post(path, await bed.signedHeaders(adjustWallet, second, 'alice'), body)
    t.equal(own.reply.error.code, 'TWO_PEOPLE_REQUIRED')
    const done = await post(path, await bed.signedHeaders(adjustWallet, second, 'bob'), body)
    t.equal(done.status, 200)
    t.match(done.reply, { amount: '5.00', balanceAfter: '5.00' })
  })

  await t.test('refuses what is not signed by a person of the team, before the broker sees it', async (t) => {
    const right = await bed.signedHeaders(kycQueue, call)
    const { Authorization: _left, ...machine } = right
    const attacks: Record<string, { headers: Record<string, string>; body?: unknown; path?: string }> = {
      'no proof': { headers: { ...right, 'Team-Proof': '' } },
      'an ID token for the key of another session': {
        headers: { ...right, Authorization: (await bed.signedHeaders(kycQueue, call, 'bob')).Authorization },
      },
      'a machine that nobody knows': { headers: machine },
      'a proof that was used with another input': { headers: right, body: { limit: 6 } },
      'a proof that was used under another operation id': { headers: { ...right, 'Operation-Id': 'opn_relay_2' } },
      'a proof that approves nothing, made to approve': { headers: { ...right, Approves: 'prp_1' } },
      'a proof that was used for another operation': { headers: right, path: '/calls/players/listPlayers' },
      'a call that says it comes from the console': {
        headers: await bed.signedHeaders(kycQueue, call, 'alice', { tool: 'console' }),
      },
      'an Authorization that is no ID token': { headers: { ...right, Authorization: 'Basic YTpi' } },
    }
    seen.length = 0
    for (const [what, { headers, body, path = queue }] of Object.entries(attacks)) {
      const { status, reply } = await post(path, headers, body)
      t.equal(status, 401, what)
      t.equal(reply.error.code, 'LOGIN_REQUIRED', what)
      t.equal(typeof reply.error.details.reason, 'string', what)
    }
    await nats.flush()
    t.strictSame(seen, [])
  })

  await t.test('a browser cannot use it for the person who sits before it', async (t) => {
    const { console: session, 'console-token': token } = (await bed.sessionOf('alice')).cookies
    const cookie = { Cookie: `console=${session}; console-token=${token}`, 'Operation-Id': operationId }
    t.equal((await post(queue, cookie)).status, 401)
    const foreign = await post(queue, { ...(await bed.signedHeaders(kycQueue, call)), Origin: 'https://evil.test' })
    t.equal(foreign.status, 401)
    t.equal(foreign.headers.get('access-control-allow-origin'), null)
  })

  await t.test("knows the team's operations only, and bodies of 64 KiB", async (t) => {
    const headers = await bed.signedHeaders(kycQueue, call)
    for (const path of ['/calls/players/getPlayerStanding', '/calls/players/registerPlayer', '/calls/nobody/nothing'])
      t.equal((await post(path, headers)).reply.error.code, 'NOT_FOUND', path)
    t.equal((await post(queue, headers, `{"after":"${'x'.repeat(70_000)}"}`)).status, 413)
    t.equal((await post(queue, headers, '[]')).status, 422)
    t.equal((await post(queue, headers, '{')).status, 422)
    t.equal((await post(queue, { ...headers, 'Operation-Id': 'two words' })).reply.error.code, 'VALIDATION_ERROR')
  })

  await t.test('says what the command line needs, and who one is', async (t) => {
    const cli = await (await fetch(`${bed.url}/cli`)).json()
    t.match(cli, { issuer: 'https://identity.test', clientId: 'backoffice-cli', version: /^\d+\.\d+\.\d+/ })
    const whoami = { ...kycQueue, service: 'console' as never, id: 'whoami' }
    const headers = await bed.signedHeaders(whoami, { operationId, input: {} }, 'finance')
    const { status, reply } = await post('/whoami', headers, {})
    t.equal(status, 200)
    t.match(reply, { name: 'finance', kind: 'person', roles: ['finance'], endsAt: /Z$/ })
  })

  await t.test('takes so many calls a minute of one session, and no more', async (t) => {
    const headers = await bed.signedHeaders(kycQueue, call)
    const statuses = new Set<number>()
    for (let calls = 0; calls < 22; calls += 1) {
      const { status, reply } = await post(queue, headers)
      statuses.add(status)
      if (status === 429) t.equal(reply.error.code, 'RATE_LIMITED')
    }
    t.ok(statuses.has(200) && statuses.has(429))
    t.equal((await post(queue, await bed.signedHeaders(kycQueue, call, 'bob'))).status, 200, 'another session')
  })
})
