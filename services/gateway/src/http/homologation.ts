import { type HomologationCheck, operations } from '@backoffice/contracts'
import { type Clock, callerAddress, hourMs, type Logger, Loop } from '@backoffice/process'
import type { RpcClient } from '@backoffice/rpc'
import type { Background, Database } from '@backoffice/service-runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { heardProof, type Proof } from '../operators/operator.ts'
import {
  findApplicants,
  findObedient,
  findStoredProofs,
  type OperatorProof,
  type RateRefusal,
  writeProofs,
  writeRateRefusals,
} from '../requests/records.ts'
import { type Access, header, type Observer, rawBody } from './authenticate.ts'

/** What a successful call proves by itself. */
interface Proving {
  readonly check: HomologationCheck
  /** Whether this one does. It is asked only while the check is not noted. */
  readonly when?: (request: FastifyRequest) => boolean
}

const provedBySuccess: ReadonlyMap<string, Proving> = new Map([
  [operations.gateway.getMe.id, { check: 'signedRequest' }],
  [operations.players.registerPlayer.id, { check: 'nonAsciiBody', when: (request) => hasBytesAboveAscii(request) }],
  [operations.players.decideKycInSandbox.id, { check: 'kycDecided' }],
  [operations.players.openGameSession.id, { check: 'gameSessionOpened' }],
  [operations.payments.decideWithdrawalInSandbox.id, { check: 'withdrawalEnded', when: endsWithdrawal }],
  [operations.wallet.getWallet.id, { check: 'walletRead' }],
  [operations.wallet.listTransactions.id, { check: 'statementPaged', when: (request) => asksForNextPage(request) }],
] as const)

/** A signature over such bytes fits only if the bytes that were signed are those that were sent. */
const hasBytesAboveAscii = (request: FastifyRequest): boolean => rawBody(request).some((byte) => byte > 0x7f)
const asksForNextPage = ({ raw: { url = '' } }: FastifyRequest): boolean => /[?&]cursor=/.test(url)
/** Approved, it goes on. The body is valid, or there were no success. */
function endsWithdrawal(request: FastifyRequest): boolean {
  return JSON.parse(rawBody(request).toString()).decision !== 'approve'
}

const operatorsMax = 10_000
const pathsMax = 50
/** How exact the time is at which a check was seen last. */
const exactToMs = hourMs
const writeEveryMs = 1_000
/** Requests that were sent before their sender could read the first 429. */
const inFlightMs = 2_000
/** By then the other replicas have written what they refused. */
const judgedAfterMs = 3 * writeEveryMs

/** What this replica has seen of an operator's sandbox traffic. */
interface Traffic {
  /** When each check was noted. */
  readonly noted: Map<HomologationCheck, number>
  /** The Idempotency-Keys of the latest requests that got a 422, by their paths. */
  readonly unprocessable: LRUCache<string, string>
  /** Refused with RATE_LIMITED, until it was judged. */
  limited: RateRefusal | undefined
  /** From where a request was wrongly signed. Anybody may send one, so it counts when a right one follows from there. */
  mistrusted: string | undefined
}

/**
 * Notes what the sandbox traffic of operators proves, as far as nothing else keeps it (`findStoredProofs`). A check is noted in memory, once an hour, and
 * written within a second, so a process that dies forgets a second. What spans two requests is seen where both come to one
 * replica.
 */
export class Homologation implements Background, Observer {
  /** Of operators that have something to make good, every answer. */
  readonly awaits = { operations: new Set(provedBySuccess.keys()), operators: new Set<string>() }
  readonly #db: Database
  readonly #clock: Clock
  readonly #loop: Loop
  readonly #traffic = new LRUCache<string, Traffic>({
    max: operatorsMax,
    dispose: (_traffic, operatorId) => this.awaits.operators.delete(operatorId),
  })
  #proofs = new Map<string, OperatorProof>()
  #refusals = new Map<string, RateRefusal>()
  #waits: OperatorProof[] = []

  constructor({ db, clock, log }: { readonly db: Database; readonly clock: Clock; readonly log: Logger }) {
    this.#db = db
    this.#clock = clock
    this.#loop = new Loop({
      run: () => this.#write(),
      everyMs: writeEveryMs,
      log,
      name: 'writing what sandbox traffic proves',
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Writes what is noted by then. */
  stop(): Promise<void> {
    this.#loop.nudge()
    return this.#loop.stop()
  }

  answered(request: FastifyRequest, reply: FastifyReply): void {
    const { sender, access } = request
    const { operatorId, environment } = sender?.holder ?? {}
    if (operatorId === undefined || environment !== 'sandbox') return
    const traffic = this.#of(operatorId)
    if (access !== undefined) this.#admitted(access, traffic, reply)
    else if (!request.verified) traffic.mistrusted = callerAddress(request)
    else if (request.refusedWith === 'RATE_LIMITED') this.#limited(operatorId, traffic, reply)
    if (traffic.mistrusted !== undefined || traffic.limited !== undefined || traffic.unprocessable.size > 0)
      this.awaits.operators.add(operatorId)
    else this.awaits.operators.delete(operatorId)
  }

  #limited(operatorId: string, traffic: Traffic, reply: FastifyReply): void {
    const now = this.#clock.now()
    const known = traffic.limited
    const until = new Date(now.getTime() + Number(reply.getHeader('Retry-After')) * 1_000)
    traffic.limited =
      known !== undefined && now < known.until
        ? { ...known, lastAt: now }
        : { operatorId, until, firstAt: now, lastAt: now }
    this.#refusals.set(operatorId, traffic.limited)
  }

  #admitted({ request, operation, credential, address }: Access, traffic: Traffic, reply: FastifyReply): void {
    const { operatorId } = credential.scope
    const note = (item: HomologationCheck) => this.#note(traffic, { operatorId, item, reply })
    if (reply.hasHeader('Idempotent-Replayed')) {
      note('replayed')
      return
    }
    if (reply.statusCode >= 400) {
      const key = header(request, 'idempotency-key')
      if (reply.statusCode === 422 && key !== undefined) traffic.unprocessable.set(request.raw.url ?? '', key)
      return
    }
    const proving = provedBySuccess.get(operation.id)
    if (proving !== undefined && !this.#isNoted(traffic, proving.check) && proving.when?.(request) !== false)
      note(proving.check)
    if (traffic.mistrusted === address) {
      traffic.mistrusted = undefined
      note('signatureRefused')
    }
    if (traffic.unprocessable.size > 0 && isCorrected(request, traffic)) note('correctedRequest')
    if (traffic.limited !== undefined) this.#judgeLater(traffic, traffic.limited, reply)
  }

  #isNoted({ noted }: Traffic, check: HomologationCheck): boolean {
    const at = noted.get(check)
    return at !== undefined && this.#clock.now().getTime() - at < exactToMs
  }

  #note(traffic: Traffic, seen: Pick<OperatorProof, 'operatorId' | 'item'> & { readonly reply: FastifyReply }): void {
    if (this.#isNoted(traffic, seen.item)) return
    const proof = this.#proofOf(seen)
    traffic.noted.set(seen.item, proof.firstAt.getTime())
    this.#proofs.set(nameOf(proof), proof)
  }

  /** What was sent on other replicas before Retry-After had ended is known a little later. */
  #judgeLater(traffic: Traffic, { operatorId, until }: RateRefusal, reply: FastifyReply): void {
    if (this.#clock.now() < until) return
    traffic.limited = undefined
    if (this.#isNoted(traffic, 'rateLimitObeyed')) return
    this.#waits.push(this.#proofOf({ operatorId, item: 'rateLimitObeyed', reply }))
  }

  #proofOf({
    operatorId,
    item,
    reply,
  }: Pick<OperatorProof, 'operatorId' | 'item'> & { readonly reply: FastifyReply }): OperatorProof {
    const at = this.#clock.now()
    return { operatorId, item, firstAt: at, lastAt: at, proof: String(reply.getHeader('X-Request-Id')) }
  }

  #of(operatorId: string): Traffic {
    let traffic = this.#traffic.get(operatorId)
    if (traffic === undefined) {
      const unprocessable = new LRUCache<string, string>({ max: pathsMax })
      traffic = { noted: new Map(), unprocessable, limited: undefined, mistrusted: undefined }
      this.#traffic.set(operatorId, traffic)
    }
    return traffic
  }

  async #write(): Promise<void> {
    const judgedFrom = this.#clock.now().getTime() - judgedAfterMs
    const due = this.#waits.filter(({ firstAt }) => firstAt.getTime() <= judgedFrom)
    const [proofs, refusals] = [this.#proofs, this.#refusals]
    if (due.length + proofs.size + refusals.size === 0) return
    this.#waits = this.#waits.filter((wait) => !due.includes(wait))
    this.#proofs = new Map()
    this.#refusals = new Map()
    try {
      if (refusals.size > 0) await writeRateRefusals(this.#db, [...refusals.values()])
      for (const proof of await this.#obedient(due)) proofs.set(nameOf(proof), proof)
      if (proofs.size > 0) await writeProofs(this.#db, [...proofs.values()])
    } catch (error) {
      this.#waits.push(...due)
      this.#proofs = new Map([...this.#proofs, ...proofs])
      this.#refusals = new Map([...refusals, ...this.#refusals])
      throw error
    }
  }

  async #obedient(due: readonly OperatorProof[]): Promise<readonly OperatorProof[]> {
    if (due.length === 0) return []
    const operatorIds = due.map(({ operatorId }) => operatorId)
    const obedient = await findObedient(this.#db, operatorIds, inFlightMs)
    const proofs = due.filter(({ operatorId }) => obedient.includes(operatorId))
    for (const { operatorId, item, firstAt } of proofs) this.#of(operatorId).noted.set(item, firstAt.getTime())
    return proofs
  }
}

const nameOf = ({ operatorId, item }: OperatorProof): string => `${operatorId} ${item}`

/** Whether what was refused with 422 succeeds under another key. */
function isCorrected(request: FastifyRequest, { unprocessable }: Traffic): boolean {
  const path = request.raw.url ?? ''
  const refused = unprocessable.get(path)
  const key = header(request, 'idempotency-key')
  if (refused === undefined || key === undefined || key === refused) return false
  unprocessable.delete(path)
  return true
}

/** What others prove is purged after a day, or some: it is kept here, of the operators that homologation is for. */
export const keepingProofs = ({
  db,
  rpc,
  log,
}: {
  readonly db: Database
  readonly rpc: Pick<RpcClient, 'call'>
  readonly log: Logger
}): Loop =>
  new Loop({
    name: 'keeping what is proved elsewhere',
    log,
    everyMs: hourMs,
    firstAfterMs: 5_000,
    run: async () => {
      for (const scope of await findApplicants(db)) {
        const { operatorId } = scope
        const keep = (proofs: readonly Proof[]) =>
          writeProofs(
            db,
            proofs.map((proof) => ({ operatorId, ...proof })),
          )
        await keep(await findStoredProofs(db, operatorId))
        const { proofs } = await rpc.call(operations.webhooks.readHomologation, { scope, input: {} })
        await keep(proofs.map(heardProof))
      }
    },
  })
