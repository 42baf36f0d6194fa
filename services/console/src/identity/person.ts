import {
  defined,
  type Input,
  type Operation,
  type Reply,
  residentServices,
  type ServiceName,
  serviceNames,
  type TeamRole,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import { PersonSigner, refusalOf, type TeamCaller, type TeamVerifier, type Who } from '@backoffice/team-identity'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SignedIn } from './cookies.ts'

/** What is signed to say who somebody is. No service has such an operation. */
export const whoAmI = 'console.whoami'

/** Somebody who is signed in, and what they can do. */
export interface Person extends Who {
  readonly roles: ReadonlySet<TeamRole>
  readonly loggedInAt: Date
  /** The thumbprint of its key. */
  readonly session: string
  readonly idToken: string
  /** The services that always run, which every page may ask. */
  readonly resident: readonly ServiceName[]
  /** Whether one of their roles is enough for an operation. The service decides; the pages only hide what it would refuse. */
  mayCall(operation: Operation, input?: Readonly<Record<string, unknown>>): boolean
  /** Whether they must log in once more before this call. */
  needsFreshLogin(operation: Operation, input: Readonly<Record<string, unknown>>): boolean
  call<O extends Operation>(operation: O, input: Input<O>, options?: CallOptions): Promise<Reply<O>>
}

interface CallOptions {
  /** Names the effect. Without one a new id is made. */
  readonly operationId?: string | undefined
  /** The proposal of somebody else that the call carries out. */
  readonly approves?: string | undefined
}

interface Parts {
  readonly nats: NatsConnection
  readonly verifier: TeamVerifier
  readonly deployment: string
  readonly now: Date
  /** On one machine the reconciler is started when it is asked; in production it always runs. */
  readonly isOneMachine: boolean
}

/**
 * @throws {IdentityRefused} when the session is over, or the services would not take it for another reason
 * @throws {KeysUnavailable}
 */
export async function personOf(
  { idToken, key }: SignedIn,
  { nats, verifier, deployment, now, isOneMachine }: Parts,
): Promise<Person> {
  const signer = new PersonSigner({ idToken, key, deployment, tool: 'console' })
  const { id, name, roles, loggedInAt, session } = await whoIs(signer, { verifier, now })
  const rpc = new RpcClient(nats, signer)
  const refused = (operation: Operation, input: Readonly<Record<string, unknown>>) =>
    refusalOf(operation, input, { roles, loggedInAt, delegated: false }, now)?.code
  return {
    id,
    name,
    roles,
    loggedInAt,
    session,
    idToken,
    resident: isOneMachine ? residentServices : serviceNames,
    // As the services judge it.
    mayCall: (operation, input = {}) => refused(operation, input) !== 'ROLE_REQUIRED',
    needsFreshLogin: (operation, input) => refused(operation, input) === 'FRESH_LOGIN_REQUIRED',
    call: (operation, input, { operationId = newId('opn'), approves } = {}) =>
      rpc.call(operation, { input, operationId, ...defined({ approves }) }),
  }
}

/** Verified as the services verify a call: with a signature of the session's key, over a call that is never sent. */
async function whoIs(
  signer: PersonSigner,
  { verifier, now }: Pick<Parts, 'verifier' | 'now'>,
): Promise<TeamCaller & { readonly loggedInAt: Date }> {
  const call = { operation: whoAmI, operationId: newId('opn'), input: {} }
  const caller = await verifier.verify(call, await signer.sign(call), now)
  return { ...caller, loggedInAt: caller.loggedInAt ?? now }
}
