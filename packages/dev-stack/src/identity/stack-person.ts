import { freshLoginMinutes, type TeamTool } from '@backoffice/contracts'
import { type CallToProve, PersonSigner, type Proof, type TeamSigner } from '@backoffice/team-identity'
import { logIn } from './log-in.ts'
import type { TeamUser } from './people.ts'

/** Logs in again before a login is too old for what takes a fresh one. */
const renewAfterMs = (freshLoginMinutes - 2) * 60_000

interface Who {
  /** The identity provider of `npm start`. */
  readonly issuer: string
  readonly person: TeamUser
  readonly tool: TeamTool
}

/** Signs the calls of a person of a development stack, who is logged in whenever that is needed. */
export class StackPerson implements TeamSigner {
  readonly #who: Who
  #session: { readonly signer: Promise<PersonSigner>; readonly sinceMs: number } | undefined

  constructor(who: Who) {
    this.#who = who
  }

  async sign(call: CallToProve): Promise<Proof> {
    return (await this.#signer()).sign(call)
  }

  /** The next call is made with a new login. */
  renew(): void {
    this.#session = undefined
  }

  #signer(): Promise<PersonSigner> {
    const now = performance.now()
    if (this.#session === undefined || now - this.#session.sinceMs > renewAfterMs) {
      const session = { signer: this.#logIn(), sinceMs: now }
      this.#session = session
      // A login that failed is tried again with the next call.
      session.signer.catch(() => {
        if (this.#session === session) this.#session = undefined
      })
    }
    return this.#session.signer
  }

  async #logIn(): Promise<PersonSigner> {
    const { issuer, person, tool } = this.#who
    return new PersonSigner({ ...(await logIn(issuer, person)), tool })
  }
}
