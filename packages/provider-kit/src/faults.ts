import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, SignedCall, Transport } from './client.ts'

/** What a network may do to a message. */
export const faultNames = ['lost', 'unanswered', 'doubled', 'delayed', 'swapped'] as const
export type FaultName = (typeof faultNames)[number]

export interface FaultOptions {
  /** Of a hundred messages so many meet a fault, each as likely as the others. */
  readonly percent: number
  /** 0 up to 1, of which 1 is not one. */
  readonly random: () => number
  /** The longest that a delayed message is under way. */
  readonly delayMsMax?: number
}

/** A transport that loses, doubles, delays and swaps what it carries. To its user all of that is silence, or nothing. */
export class FaultyNetwork {
  readonly counts: Record<FaultName, number> = { lost: 0, unanswered: 0, doubled: 0, delayed: 0, swapped: 0 }
  readonly #options: FaultOptions
  readonly #inner: Transport
  readonly #underWay = new Set<Promise<unknown>>()
  /** Messages that the next one overtakes. */
  #overtaken: (() => void)[] = []

  constructor(inner: Transport, options: FaultOptions) {
    this.#inner = inner
    this.#options = options
  }

  readonly send: Transport = async (call) => {
    const { percent, random, delayMsMax = 300 } = this.#options
    const fault = random() * 100 < percent ? faultNames[Math.floor(random() * faultNames.length)] : undefined
    if (fault !== undefined) this.counts[fault] += 1
    if (fault === 'lost') throw new Error('the request was lost')
    if (fault === 'swapped') return this.#overtake(call)
    if (fault === 'delayed') {
      // It arrives, when its sender has given up waiting.
      this.#later(pause(random() * delayMsMax).then(() => this.#inner(call)))
      throw new Error('the request was delayed')
    }
    const answers = fault === 'doubled' ? [this.#inner(call), this.#inner(call)] : [this.#inner(call)]
    for (const waiting of this.#overtaken.splice(0)) waiting()
    for (const answer of answers) this.#later(answer)
    if (fault !== 'unanswered') return Promise.race(answers)
    await Promise.allSettled(answers)
    throw new Error('the answer was lost')
  }

  /** Until what was delayed has arrived. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
  }

  /** It leaves when the next message has left, or when none comes. */
  async #overtake(call: SignedCall): Promise<Answer> {
    const { delayMsMax = 300 } = this.#options
    const passed = new Promise<void>((resolve) => this.#overtaken.push(resolve))
    const answer = Promise.race([passed, pause(delayMsMax)]).then(() => this.#inner(call))
    this.#later(answer)
    return answer
  }

  #later(sent: Promise<unknown>): void {
    const ended = sent.catch(() => undefined)
    this.#underWay.add(ended)
    void ended.then(() => this.#underWay.delete(ended))
  }
}
