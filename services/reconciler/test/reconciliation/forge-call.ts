import { readFileSync } from 'node:fs'
import type { Operation } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { subjectAndReason } from '@backoffice/team-identity'
import { type LoginOptions, type TeamUser, TestIssuer } from '@backoffice/test-kit'
import t from 'tap'
import { add, bed } from './brand.ts'

/** Somebody else's identity provider. */
export const stranger = new TestIssuer()
t.teardown(() => stranger.remove())

export const keysText = (issuer: TestIssuer) => readFileSync(issuer.settings.TEAM_KEYS_FILE ?? '', 'utf8')

/** The ids of people begin so: the test's provider names their accounts as it names them. */
export const accounts = 'https://identity.test '

type Input = Readonly<Record<string, unknown>>

interface Signing extends LoginOptions {
  readonly issuer?: TestIssuer | undefined
}

export interface Forged extends Signing {
  readonly operation: Operation
  readonly by: TeamUser
  /** As the trail has it. */
  readonly input: Input
  /** What is signed instead. */
  readonly signs?: { readonly operation?: string; readonly operationId?: string; readonly input?: Input } | undefined
  /** Who proposed it, and who approved it. */
  readonly two?: readonly [TeamUser, TeamUser] | undefined
  /** What the trail says instead. */
  readonly row?: Input | undefined
}

interface Call {
  readonly input: Input
  readonly operation?: string
  readonly operationId?: string
  readonly approves?: string
}

/** A session as the service keeps it, and what somebody signed in it. */
async function signedBy(
  user: TeamUser,
  { id, service }: Operation,
  call: Call,
  { issuer = bed.issuer, ...login }: Signing,
) {
  const operationId = newId('opn')
  const { idToken, proof } = await issuer
    .signer(user, login)
    .sign({ operation: `${service}.${id}`, operationId, ...call })
  const session = newId('ses')
  const anchor = JSON.parse(keysText(issuer)).keys[0]
  await add(service, 'team_session', {
    ...{ session, person: user, kind: 'person', id_token: idToken, anchor, first_used_at: new Date() },
  })
  return { user, operationId, proof, session }
}

/** A proposal that two have signed. @returns its id */
async function forgeProposal(operation: Operation, input: Input, two: readonly [TeamUser, TeamUser], signing: Signing) {
  const id = newId('prp')
  const { reason, ...what } = input
  const proposed = await signedBy(two[0], operation, { input }, signing)
  const approved = await signedBy(two[1], operation, { input, approves: id }, signing)
  const at = (signing.now ?? (() => new Date()))()
  await add(operation.service, 'team_proposal', {
    ...{ id, operation: operation.id, fingerprint: id, input: what, reason, state: 'approved' },
    ...{ proposed_by: proposed.user, proposed_by_id: `${accounts}${proposed.user}`, proposed_at: at },
    ...{ expires_at: at, operation_id: proposed.operationId },
    ...{ session: proposed.session, proof: proposed.proof },
    ...{ decided_by: approved.user, decided_by_id: `${accounts}${approved.user}`, decided_at: at },
    ...{ decided_operation_id: approved.operationId, decision_reason: reason },
    ...{ decided_session: approved.session, decided_proof: approved.proof },
  })
  return id
}

export type ForgedEntry = Awaited<ReturnType<typeof forgeCall>>

/** An entry of the trail with all that it rests on, written with the password of its service. */
export async function forgeCall({ operation, by, input, signs, two, row, ...signing }: Forged) {
  const proposal = two && (await forgeProposal(operation, input, two, signing))
  const signed = await signedBy(by, operation, { input, ...signs }, signing)
  const entry = {
    ...{ id: newId('aud'), at: (signing.now ?? (() => new Date()))(), actor: by, actor_id: `${accounts}${by}` },
    ...{ operation: operation.id, operation_id: signed.operationId, ...subjectAndReason(input), input },
    ...{ outcome: 'done', session: signed.session, tool: 'command line', proof: signed.proof, proposal, ...row },
  }
  await add(operation.service, 'audit_entry', entry)
  return entry
}
