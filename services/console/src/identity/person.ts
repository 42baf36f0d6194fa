import {
  defined,
  type Input,
  type Operation,
  type operations,
  Rejection,
  type Reply,
  residentServices,
  type ServiceName,
  serviceNames,
  type TeamRole,
} from '@backoffice/contracts'
import { type Clock, newId } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import {
  DelegatedSigner,
  importReplyKey,
  refusalOf,
  type TeamCaller,
  type TeamVerifier,
  type Who,
} from '@backoffice/team-access/identity'
import type { NatsConnection } from '@nats-io/transport-node'
import type { JWK } from 'jose'
import { type ConsoleSettings, refuseOtherAgreement } from '../settings.ts'
import type { SignedIn } from './cookies.ts'

/** What is signed to say who somebody is. No service has such an operation. */
export const whoAmI = 'console.whoami'

/** Somebody who is signed in, and what they can do. */
export interface Person extends Who {
  readonly roles: ReadonlySet<TeamRole>
  readonly loggedInAt: Date
  /** Their login lacks what a fresh one must have, such as a second factor. */
  readonly isWeak: boolean
  /** The thumbprint of their session's key, which their browser alone has. */
  readonly session: string
  /** The services that always run, which every page may ask. */
  readonly resident: readonly ServiceName[]
  /** Whether one of their roles is enough for an operation. The service decides; the pages only hide what it would refuse. */
  mayCall(operation: Operation, input?: Readonly<Record<string, unknown>>): boolean
  /** Whether they must log in once more before this call. */
  needsFreshLogin(operation: Operation, input: Readonly<Record<string, unknown>>): boolean
  /**
   * Reads for them, as they let this program, and ends sessions of theirs. What else changes something, or shows what is
   * masked, services refuse.
   */
  call<O extends Query>(operation: O, input: Input<O>): Promise<Reply<O>>
  /** Passes on what their browser has signed: this program cannot change it. */
  passOn(operation: Operation, call: SignedCall): Promise<unknown>
}

type Query = Operation<string, 'query'> | typeof operations.gateway.endSession

interface SignedCall {
  /** Names the effect. */
  readonly operationId: string
  readonly input: Readonly<Record<string, unknown>>
  /** The proposal of somebody else that the call carries out. */
  readonly approves: string | undefined
  readonly proof: string
  /** The private half of the key to which the reply is sealed, of one that is. */
  readonly opener: JWK | undefined
}

interface Parts {
  readonly nats: NatsConnection
  readonly verifier: TeamVerifier
  readonly clock: Clock
  readonly config: ConsoleSettings
}

/**
 * @throws {IdentityRefused} when the session is over, or the services would not take it for another reason
 * @throws {KeysUnavailable}
 */
export async function personOf(
  { idToken, delegate: key, delegation }: SignedIn,
  { nats, verifier, clock, config }: Parts,
): Promise<Person> {
  const { DEVELOPMENT: isOneMachine, TEAM_DEPLOYMENT: deployment } = config
  const now = clock.now()
  const signer = new DelegatedSigner({ idToken, key, delegation, deployment })
  const { id, name, roles, session, loggedInAt, lacking } = await whoIs(signer, { verifier, now })
  const rpc = new RpcClient(nats, signer)
  // On one machine the reconciler is started when it is asked; in production it always runs.
  const resident: readonly ServiceName[] = isOneMachine ? residentServices : serviceNames
  const refused = (operation: Operation, input: Readonly<Record<string, unknown>>) =>
    refusalOf(operation, input, { roles, loggedInAt, lacking, delegated: false }, now)?.code
  return {
    id,
    name,
    roles,
    session,
    loggedInAt,
    isWeak: lacking !== undefined,
    resident,
    // As the services judge it.
    mayCall: (operation, input = {}) => refused(operation, input) !== 'ROLE_REQUIRED',
    needsFreshLogin: (operation, input) => refused(operation, input) === 'FRESH_LOGIN_REQUIRED',
    call: (operation, input) =>
      rpc.call(operation, { input }).catch((error: unknown) => {
        throw isAway(error) && !resident.includes(operation.service) ? new ServiceStarts(error) : error
      }),
    async passOn(operation, { operationId, input, approves, proof, opener }) {
      refuseOtherAgreement(config, operation, input)
      const replyKey = opener && (await importReplyKey(opener).catch(() => undefined))
      const call = { input: input as never, operationId, ...defined({ approves, replyKey }) }
      return new RpcClient(nats, { sign: async () => ({ idToken, proof }) }).call(operation, call)
    },
  }
}

/** Verified as the services verify a call: with a signature over one that is never sent. */
async function whoIs(
  signer: DelegatedSigner,
  { verifier, now }: Pick<Parts, 'verifier'> & { readonly now: Date },
): Promise<TeamCaller & { readonly loggedInAt: Date }> {
  const call = { operation: whoAmI, operationId: newId('opn'), input: {} }
  const caller = await verifier.verify(call, await signer.sign(call), now)
  return { ...caller, loggedInAt: caller.loggedInAt ?? now }
}

/** No reply came of a service that runs when it is needed: the call has started it. */
export class ServiceStarts extends Rejection {
  constructor(cause: unknown) {
    super('SERVICE_UNAVAILABLE', undefined, { cause })
  }
}

const isAway = (error: unknown): boolean => error instanceof Rejection && error.code === 'SERVICE_UNAVAILABLE'

/** For `catch`: what is shown while the service that was asked does not answer. What it refuses is thrown. */
export const whenAway =
  <Shown>(shown: Shown) =>
  (error: unknown): Shown => {
    if (isAway(error)) return shown
    throw error
  }

/** The same for a page that is shown without what another service does not say, or refuses. */
export function notKnown(error: unknown): undefined {
  if (!(error instanceof Rejection)) throw error
}

/** Asks several services at once. Those that do not answer are missing, in the order of `services`. */
export async function askEach<Reply>(
  services: readonly ServiceName[],
  ask: (service: ServiceName) => Promise<Reply>,
): Promise<{ readonly replies: readonly Reply[]; readonly missing: readonly ServiceName[] }> {
  const asked = services.map(async (service) => ({
    service,
    reply: await ask(service).catch(whenAway(undefined)),
  }))
  const answers = await Promise.all(asked)
  return {
    replies: answers.flatMap(({ reply }) => (reply === undefined ? [] : [reply])),
    missing: answers.flatMap(({ service, reply }) => (reply === undefined ? [service] : [])),
  }
}
