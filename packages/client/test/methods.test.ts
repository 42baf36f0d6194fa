import t from 'tap'
import { signedOperations, writtenByHand } from '../scripts/generate.ts'
import { BackOfficeClient } from '../src/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: each call knows its own operation's example
type Example = { readonly params: any; readonly query: any; readonly body: any }

type Call = (client: BackOfficeClient, example: Example) => Promise<unknown>

/** The methods that src/client.ts has by hand. */
const calls: Readonly<Record<string, Call>> = {
  getMe: (client) => client.me(),
  findPlayers: (client, { query }) => client.findPlayer(query.externalId),
  openGameSession: (client, { params, body }) => client.openGameSession(params.playerId, body.gameId),
  decideKycInSandbox: (client, { params, body: { status, ...more } }) =>
    client.decideKyc(params.playerId, status, more),
  decideWithdrawalInSandbox: (client, { params, body: { decision, ...more } }) =>
    client.decideWithdrawal(params.withdrawalId, decision, more),
}

/** The others take the ids of the path, and then the body, or what of it or of the query may be left out. */
function callOf({ id, http }: (typeof signedOperations)[number]): Call {
  return async (client, { params, query, body }) => {
    const ids = [...(http?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => params[name])
    const method = (client as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[id]
    const limit = query.limit === undefined ? {} : { limit: Number(query.limit) }
    return method?.call(client, ...ids, { ...query, ...limit, ...body })
  }
}

t.test('what is written by hand is not derived as well', async (t) => {
  t.same(Object.keys(calls).sort(), [...writtenByHand].sort())
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
    await (calls[id] ?? callOf(operation))(client, { params, query, body })

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
