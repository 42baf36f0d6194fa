import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'

export type MessageKind = 'bet' | 'win' | 'rollback' | 'close' | 'spin'
export const pathOf: Readonly<Record<MessageKind, string>> = {
  bet: '/bets',
  win: '/wins',
  rollback: '/rollbacks',
  close: '/rounds/close',
  spin: '/spins',
}

/** What is sent, byte for byte, until its outcome is known. */
export interface Message {
  readonly kind: MessageKind
  /** Unique among messages of its kind: the transactionId, or of a close the player and the round. */
  readonly id: string
  readonly body: string
}
export const message = (kind: MessageKind, fields: Readonly<Record<string, unknown>>): Message => ({
  kind,
  id: String(fields.transactionId ?? `${fields.playerId} ${fields.roundId}`),
  body: JSON.stringify(fields),
})

/** How a message ended: `given up` is a bet that a rollback follows. */
export interface Outcome {
  readonly meaning: 'done' | 'refused' | 'given up'
  readonly code?: string | undefined
  /** The reply, where it was done. */
  // biome-ignore lint/suspicious/noExplicitAny: it depends on the kind
  readonly result?: any
}

export interface Entry {
  readonly message: Message
  outcome?: Outcome
}

const keyOf = ({ kind, id }: Message) => `${kind} ${id}`

/**
 * What a provider has sent and what became of it: a file of lines, to which one is added before a message is sent, and one
 * when its outcome is known. The outcome and what follows from it are one line, so whoever is killed finds both or neither.
 */
export class Store {
  readonly #file: number
  readonly #sync: boolean
  readonly #entries = new Map<string, Entry>()

  private constructor(file: number, sync: boolean) {
    this.#file = file
    this.#sync = sync
  }

  /** @param sync false: a line survives the process, but not the machine */
  static open(path: string, { sync = true } = {}): Store {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    // Somebody was killed while writing. What was not written whole was not sent.
    if (whole !== text) truncateSync(path, Buffer.byteLength(whole))
    const store = new Store(openSync(path, 'a'), sync)
    for (const line of whole.split('\n')) if (line !== '') store.#apply(JSON.parse(line))
    return store
  }

  /** Before it is sent. */
  keep(...messages: readonly Message[]): void {
    const fresh = messages.filter((one) => !this.#entries.has(keyOf(one)))
    if (fresh.length > 0) this.#write({ added: fresh })
  }

  /** What became of it, and what is to be sent now. */
  end(ended: Message, outcome: Outcome, then: readonly Message[] = []): void {
    this.#write({ ended: [ended.kind, ended.id], outcome, added: then })
  }

  outcomeOf(one: Message): Outcome | undefined {
    return this.#entries.get(keyOf(one))?.outcome
  }

  get entries(): readonly Readonly<Entry>[] {
    return [...this.#entries.values()]
  }

  /** Messages without an outcome, oldest first. */
  get owed(): readonly Message[] {
    return this.entries.filter(({ outcome }) => outcome === undefined).map(({ message }) => message)
  }

  close(): void {
    closeSync(this.#file)
  }

  #write(line: Line): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`)
    if (this.#sync) fdatasyncSync(this.#file)
    this.#apply(line)
  }

  #apply({ ended, outcome, added }: Line): void {
    const entry = ended && this.#entries.get(ended.join(' '))
    if (entry !== undefined && outcome !== undefined) entry.outcome = outcome
    for (const message of added) if (!this.#entries.has(keyOf(message))) this.#entries.set(keyOf(message), { message })
  }
}

interface Line {
  readonly ended?: readonly [MessageKind, string]
  readonly outcome?: Outcome
  readonly added: readonly Message[]
}
