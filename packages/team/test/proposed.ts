import type { Input, Operation } from '@backoffice/contracts'
import { RecordedCalls } from '@backoffice/team-identity'
import { type TeamUser, TestIssuer } from '@backoffice/test-kit'
import t from 'tap'

const company = new TestIssuer()
t.teardown(() => company.remove())
export const recorded = new RecordedCalls([company.team])

/** A proposal as its service tells of it, with the call that somebody signed. */
export async function proposedBy<O extends Operation>(
  user: TeamUser,
  operation: O,
  { reason, ...input }: Input<O> & { readonly reason: string },
) {
  const [operationId, proposedAt] = ['opn_1', new Date().toISOString()]
  const call = { operation: `${operation.service}.${operation.id}`, operationId, input: { ...input, reason } }
  const { idToken, proof } = await company.signer(user).sign(call)
  return {
    ...{ id: 'prp_1', operation: operation.id, operationId, state: 'open', input, reason, proposedAt },
    ...{ proposedBy: user, proposedById: `https://identity.test ${user}`, proof, idToken, anchor: null },
  }
}
