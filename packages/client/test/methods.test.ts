import { httpOperations } from '@backoffice/contracts'
import t from 'tap'
import { BackOfficeClient } from '../src/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: each call knows its own operation's example
type Example = { readonly params: any; readonly query: any; readonly body: any }

/** Each operation as a user of the client calls it, with the input of the operation's example. */
const calls: Readonly<Record<string, (client: BackOfficeClient, example: Example) => Promise<unknown>>> = {
  getMe: (client) => client.me(),
  registerPlayer: (client, { body }) => client.registerPlayer(body),
  findPlayers: (client, { query }) => client.findPlayer(query.externalId),
  getKyc: (client, { params }) => client.getKyc(params.playerId),
  submitKyc: (client, { params, body }) => client.submitKyc(params.playerId, body),
  createDeposit: (client, { params, body }) => client.createDeposit(params.playerId, body),
  confirmDeposit: (client, { params }) => client.confirmDeposit(params.depositId),
  failDeposit: (client, { params, body }) => client.failDeposit(params.depositId, body),
  getWallet: (client, { params }) => client.getWallet(params.playerId),
  listTransactions: (client, { params, query }) =>
    client.listTransactions(params.playerId, { ...query, limit: Number(query.limit) }),
  listGames: (client) => client.listGames(),
  openGameSession: (client, { params, body }) => client.openGameSession(params.playerId, body.gameId),
  requestWithdrawal: (client, { params, body }) => client.requestWithdrawal(params.playerId, body),
  getWithdrawal: (client, { params }) => client.getWithdrawal(params.withdrawalId),
  cancelWithdrawal: (client, { params }) => client.cancelWithdrawal(params.withdrawalId),
  testWebhook: (client) => client.testWebhook(),
  decideKycInSandbox: (client, { params, body: { status, ...more } }) =>
    client.decideKyc(params.playerId, status, more),
  decideWithdrawalInSandbox: (client, { params, body: { decision, ...more } }) =>
    client.decideWithdrawal(params.withdrawalId, decision, more),
}

const signedOperations = httpOperations.filter(({ audience }) => audience === 'operator' || audience === 'sandbox')

t.test('the client has a method for every operation that an operator may call, and for no other', async (t) => {
  t.same(Object.keys(calls).sort(), signedOperations.map(({ id }) => id).sort())
})

t.test('a method sends what the operation table says, with an Idempotency-Key where it demands one', async (t) => {
  for (const operation of signedOperations) {
    const { id, http, example, idempotency } = operation
    const sent: { url: URL; init: RequestInit }[] = []
    const client = new BackOfficeClient({
      baseUrl: 'https://backoffice.invalid/api/v1',
      key: 'bk_test_example',
      secret: 'sk_example',
      fetch: async (url, init = {}) => {
        sent.push({ url: new URL(String(url)), init })
        return Response.json(example?.reply ?? null, { status: http?.status ?? 200 })
      },
    })
    const { params = {}, query = {}, body } = example ?? {}
    await calls[id]?.(client, { params, query, body })

    t.equal(sent.length, 1, id)
    const { url, init } = sent[0] ?? { url: new URL('about:blank'), init: {} }
    const asSent = {
      method: init.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      body: init.body === undefined ? undefined : JSON.parse(String(init.body)),
      hasKey: new Headers(init.headers).has('Idempotency-Key'),
    }
    const path = http?.path.replaceAll(/\{(\w+)\}/g, (_, name) => params[name] ?? '')
    const expected = { method: http?.method, path: `/api/v1${path}`, query, body, hasKey: idempotency === 'required' }
    t.same(asSent, expected, id)
  }
})
