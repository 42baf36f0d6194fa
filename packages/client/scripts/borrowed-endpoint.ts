import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Input, type Operation, operations, type Reply, type WebhookEndpoint } from '@backoffice/contracts'

const { setWebhookUrl, showWebhook, disableWebhook } = operations.webhooks
const reason = 'npm run listen'

export interface Borrowing {
  readonly operatorId: string
  /** Calls in the name of a person of the team. */
  readonly call: <O extends Operation>(operation: O, input: Input<O>) => Promise<Reply<O>>
  /** Where the former state is kept meanwhile, so that it is not lost with the process. */
  readonly keptIn: string
}

type Former = Pick<WebhookEndpoint, 'url' | 'enabled' | 'disabledReason'>
interface Kept {
  readonly former: Former
  /** What the endpoint was set to. */
  readonly borrowedAs: string
}

/** The sandbox's endpoint of an operator, while its deliveries come to somebody else. */
export class BorrowedEndpoint {
  readonly #endpoint: { readonly operatorId: string; readonly environment: 'sandbox' }
  readonly #call: Borrowing['call']
  readonly #keptIn: string
  readonly #url: string
  readonly #former: Former
  /** What it was, and what becomes of it, in words. */
  readonly plan: string

  private constructor({ operatorId, call, keptIn }: Borrowing, url: string, former: Former) {
    this.#endpoint = { operatorId, environment: 'sandbox' }
    this.#call = call
    this.#keptIn = keptIn
    this.#url = url
    this.#former = former
    this.plan =
      former.url === null
        ? 'They went nowhere before. At the end the endpoint is disabled.'
        : `They went to ${wordsFor(former)} before. At the end they do so again.`
  }

  static async borrow(borrowing: Borrowing, url: string): Promise<BorrowedEndpoint> {
    const { operatorId, call, keptIn } = borrowing
    const current = await call(showWebhook, { operatorId, environment: 'sandbox' })
    const kept = readKept(keptIn)
    // Somebody who borrowed it and did not give it back was killed: what was before them is to be put back.
    const { url: formerUrl, enabled, disabledReason } = kept?.borrowedAs === current.url ? kept.former : current
    const former = { url: formerUrl, enabled, disabledReason }
    writeFileSync(keptIn, JSON.stringify({ former, borrowedAs: url } satisfies Kept), { mode: 0o600 })
    const endpoint = new BorrowedEndpoint(borrowing, url, former)
    await endpoint.#set(url)
    return endpoint
  }

  /** @returns where deliveries go now, in words */
  async giveBack(): Promise<string> {
    const { url } = await this.#call(showWebhook, this.#endpoint)
    if (url !== this.#url) {
      // The file may be that of another program, which borrowed it after this one.
      if (readKept(this.#keptIn)?.borrowedAs === this.#url) rmSync(this.#keptIn, { force: true })
      return `They go to ${url}: somebody has changed it meanwhile.`
    }
    if (this.#former.url !== null) await this.#set(this.#former.url)
    // Nothing takes a URL away again. A disabled endpoint gets nothing either.
    if (!this.#former.enabled || this.#former.url === null)
      await this.#call(disableWebhook, { ...this.#endpoint, reason: this.#former.disabledReason ?? reason })
    rmSync(this.#keptIn, { force: true })
    return this.#former.url === null ? 'The endpoint is disabled.' : `They go to ${wordsFor(this.#former)} again.`
  }

  #set(url: string): Promise<WebhookEndpoint> {
    return this.#call(setWebhookUrl, { ...this.#endpoint, url, reason })
  }
}

const wordsFor = ({ url, enabled }: Former): string => `${url}${enabled ? '' : ', which is disabled,'}`

function readKept(file: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept
  } catch {
    return undefined
  }
}
