import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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
  /** What the endpoint was set to since, also by those who were killed. */
  readonly borrowedAs: readonly string[]
}

interface Plan {
  readonly url: string
  readonly former: Former
  readonly plan: string
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

  private constructor({ operatorId, call, keptIn }: Borrowing, { url, former, plan }: Plan) {
    this.#endpoint = { operatorId, environment: 'sandbox' }
    this.#call = call
    this.#keptIn = keptIn
    this.#url = url
    this.#former = former
    this.plan = plan
  }

  static async borrow(borrowing: Borrowing, url: string): Promise<BorrowedEndpoint> {
    const { operatorId, call, keptIn } = borrowing
    const current = await call(showWebhook, { operatorId, environment: 'sandbox' })
    const kept = readKept(keptIn)
    // Somebody who borrowed it and has not given it back was killed, or still runs: what was before them is to be put back.
    const open = current.url !== null && kept?.borrowedAs.includes(current.url) ? kept : undefined
    const { url: formerUrl, enabled, disabledReason } = open?.former ?? current
    const former = { url: formerUrl, enabled, disabledReason }
    keep(keptIn, { former, borrowedAs: [...(open?.borrowedAs ?? []), url] })
    const taken = `\nAnother npm run listen had them at ${current.url}. If it still runs, it gets no more.`
    const plan = wordsForPlan(former) + (open === undefined ? '' : taken)
    const endpoint = new BorrowedEndpoint(borrowing, { url, former, plan })
    try {
      await endpoint.#set(url, { url: current.url })
    } catch (error) {
      // It may be set nevertheless. What cannot be put back now, the next one puts back.
      await endpoint.giveBack().catch(() => {})
      throw error
    }
    return endpoint
  }

  /** @returns where deliveries go now, in words */
  async giveBack(): Promise<string> {
    const { url, enabled, disabledReason } = await this.#call(showWebhook, this.#endpoint)
    if (url !== this.#url) {
      // Unless another one has it now, nothing is left to be put back.
      if (url === null || !readKept(this.#keptIn)?.borrowedAs.includes(url)) rmSync(this.#keptIn, { force: true })
      return `They go to ${url}: somebody has changed it meanwhile.`
    }
    // What somebody has disabled meanwhile stays so.
    const former = enabled ? this.#former : { ...this.#former, enabled, disabledReason }
    if (former.url !== null) await this.#set(former.url, { url })
    // Nothing takes a URL away again. A disabled endpoint gets nothing either.
    if (!former.enabled || former.url === null)
      await this.#call(disableWebhook, {
        ...this.#endpoint,
        seen: { url: former.url ?? url },
        reason: former.disabledReason ?? reason,
      })
    rmSync(this.#keptIn, { force: true })
    return former.url === null ? 'The endpoint is disabled.' : `They go to ${wordsFor(former)} again.`
  }

  #set(url: string, seen: Input<typeof setWebhookUrl>['seen']): Promise<WebhookEndpoint> {
    return this.#call(setWebhookUrl, { ...this.#endpoint, url, seen, reason })
  }
}

const wordsFor = ({ url, enabled }: Former): string => `${url}${enabled ? '' : ', which is disabled,'}`

const wordsForPlan = (former: Former): string =>
  former.url === null
    ? 'They went nowhere before. At the end the endpoint is disabled.'
    : `They went to ${wordsFor(former)} before. At the end they do so again.`

/** Whole or not at all: the file may hold what another one, that was killed, has kept. */
function keep(file: string, kept: Kept): void {
  writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function readKept(file: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept
  } catch {
    return undefined
  }
}
