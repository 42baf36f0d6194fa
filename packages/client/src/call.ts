/** A record with what the reply said beside it. */
export interface ApiReply<Data> {
  readonly data: Data
  readonly status: number
  /** Names the request in our logs; quote it when you ask for help. */
  readonly requestId: string | undefined
  /** Whether this is the stored reply of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
  readonly headers: Headers
}

/** A request on its way: a promise of the record, which can also tell what the reply said beside it. */
export interface ApiCall<Data> extends Promise<Data> {
  withResponse(): Promise<ApiReply<Data>>
}

export function callOf<Data>(reply: Promise<ApiReply<Data>>): ApiCall<Data> {
  const record = reply.then(({ data }) => data)
  const withResponse = () => {
    // Whoever waits for the reply hears of its failure there, and need not listen to the record too.
    record.catch(() => {})
    return reply
  }
  return Object.assign(record, { withResponse })
}

/** The call with another record, which is made from what came. */
export function mapCall<From, To>(call: ApiCall<From>, change: (data: From) => To): ApiCall<To> {
  return callOf(call.withResponse().then((reply) => ({ ...reply, data: change(reply.data) })))
}
