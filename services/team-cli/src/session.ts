import {
  type Input,
  type Operation,
  operations,
  type Proposal,
  Rejection,
  type Reply,
  type ServiceName,
  type SignedCall,
} from '@backoffice/contracts'
import type { RecordedCalls } from '@backoffice/team-access/identity'
import { typeidUnboxed } from 'typeid-js'
import type { Caller, TeamCall } from './console-client.ts'
import { say } from './output.ts'

interface Options {
  /** Makes the next call log in anew, where that needs no person. */
  readonly renew?: () => void
  /** Verifies what others have signed, with what this person knows of the identity provider. */
  readonly recorded?: () => Promise<Pick<RecordedCalls, 'faultOfCall' | 'faultOfProposal'>>
  /** Whether a call has to start its service first: then it is waited for, and said. */
  readonly starts?: ((service: ServiceName) => boolean) | undefined
}

/** A call waits for some seconds, and a start on a busy machine takes half a minute. */
const startsMax = 10

interface Approval<O extends Operation> {
  readonly input: Input<O>
  /** The id of the proposal. */
  readonly approves: string
  readonly operationId?: string | undefined
}

/** Calls in the name of one person or machine. */
export class Session {
  readonly #caller: Caller
  readonly #renew: Options['renew']
  readonly #recorded: Options['recorded']
  readonly #starts: Options['starts']

  constructor(caller: Caller, { renew, recorded, starts }: Options = {}) {
    this.#caller = caller
    this.#renew = renew
    this.#recorded = recorded
    this.#starts = starts
  }

  /**
   * Calls an operation. If it changes something, its id is printed before it is sent. Whatever happens then, calling it
   * again with the same id finishes it or shows its result.
   */
  call<O extends Operation>(operation: O, input: Input<O>, operationId = newOperationId()): Promise<Reply<O>> {
    return this.#call(operation, { input, operationId })
  }

  /** Carries out what somebody else proposed. It is the same call, which names the proposal. */
  approve<O extends Operation>(
    operation: O,
    { operationId = newOperationId(), ...call }: Approval<O>,
  ): Promise<Reply<O>> {
    return this.#call(operation, { ...call, operationId })
  }

  /** Why nobody can tell that a proposal is what its proposer signed. Null when it is. */
  async faultOf(operation: Operation, proposal: Proposal): Promise<string | null> {
    return this.#recorded === undefined ? noProvider : (await this.#recorded()).faultOfProposal(operation, proposal)
  }

  /** The same of a call that a service shows, which must say no less and no more than `says`. */
  async faultOfCall(operation: Operation, call: SignedCall, says: object): Promise<string | null> {
    return this.#recorded === undefined ? noProvider : (await this.#recorded()).faultOfCall(operation, call, says)
  }

  async #call<O extends Operation>(operation: O, call: TeamCall<O>): Promise<Reply<O>> {
    if (operation.kind !== 'query') say(`operation ${call.operationId}\n`)
    try {
      return await this.#send(operation, call)
    } catch (error) {
      if (this.#renew === undefined || !wantsLogin(error)) throw error
      this.#renew()
      return this.#send(operation, call)
    }
  }

  async #send<O extends Operation>(operation: O, call: TeamCall<O>): Promise<Reply<O>> {
    const { service } = operation
    if (this.#starts?.(service) !== true) return this.#caller.call(operation, call)
    say(`${service} is starting, since it runs only when it is needed\n`)
    for (let starts = 1; ; starts += 1) {
      try {
        return await this.#caller.call(operation, call)
      } catch (error) {
        const isLate = error instanceof Rejection && error.code === 'SERVICE_UNAVAILABLE'
        if (!isLate || starts === startsMax) throw error
      }
    }
  }

  /** An operator by name or id. */
  operator(name: string) {
    return this.call(operations.gateway.getOperator, { name })
  }

  /** A provider of games by name or id. */
  provider(name: string) {
    return this.call(operations.gateway.getProvider, { name })
  }

  async brand(operatorName: string, environment: string) {
    const { brands } = await this.operator(operatorName)
    const brand = brands.find((candidate) => candidate.environment === environment)
    if (brand === undefined) throw new Error(`${operatorName} has no brand in ${environment}`)
    return brand
  }
}

const noProvider = 'this machine does not know the identity provider: set TEAM_ISSUER'

export const newOperationId = (): string => typeidUnboxed('opn')

/** Whether a new login would help. */
const wantsLogin = (error: unknown): boolean =>
  error instanceof Rejection && (error.code === 'LOGIN_REQUIRED' || error.code === 'FRESH_LOGIN_REQUIRED')

/** The fields that say where a page begins. */
const places = ['before', 'after', 'cursor'] as const

interface Page {
  readonly data: readonly unknown[]
  readonly nextCursor?: string | null
}

const isPage = (reply: unknown): reply is Page => Array.isArray((reply as Partial<Page>).data)

/**
 * Calls a query. A page ends early when its rows are long, so it goes on until there are as many rows as were asked for.
 */
export async function callPages<O extends Operation>(
  session: Session,
  operation: O,
  input: Input<O>,
): Promise<Reply<O>> {
  const place = places.find((name) => name in operation.body.properties)
  const { limit = Number.POSITIVE_INFINITY } = input as { readonly limit?: number }
  const first = await session.call(operation, input)
  if (place === undefined || !isPage(first)) return first
  const data = [...first.data]
  let { nextCursor = null } = first
  while (nextCursor !== null && data.length < limit) {
    const left = limit === Number.POSITIVE_INFINITY ? {} : { limit: limit - data.length }
    const page = (await session.call(operation, { ...input, ...left, [place]: nextCursor })) as Page
    data.push(...page.data)
    nextCursor = page.nextCursor ?? null
  }
  return { ...(first as object), data, nextCursor } as Reply<O>
}

type Query = Operation<string, 'query'>

/** A list that each service keeps for itself, as one, in this order. Its next page begins at the last row. */
export async function callAll<
  O extends Query,
  Row = Reply<O> extends { readonly data: readonly (infer R)[] } ? R : never,
>(
  session: Session,
  lists: readonly { readonly service: ServiceName; readonly list: O }[],
  input: Input<O>,
  order: (a: Row, b: Row) => number,
) {
  const pages = lists.map(async ({ service, list }) => {
    const { data } = (await callPages(session, list, input)) as { readonly data: readonly Row[] }
    return data.map((row) => ({ service, ...row }))
  })
  const { limit } = input as { readonly limit?: number }
  return { data: (await Promise.all(pages)).flat().sort(order).slice(0, limit) }
}
