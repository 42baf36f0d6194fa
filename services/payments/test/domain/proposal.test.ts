import t from 'tap'
import { expiryOf, openProposal } from '../../src/domain/proposal.ts'

const proposedAt = new Date('2026-03-02T12:00:00.000Z')
const proposal = { proposedBy: 'alice', proposedAt, operationId: 'opn_1' }
const expiry = new Date('2026-03-03T12:00:00.000Z')
const justBefore = new Date(expiry.getTime() - 1)

t.test('another person carries a proposal out within a day', async (t) => {
  t.same(expiryOf(proposal), expiry)
  t.equal(openProposal(proposal, { person: 'bob', now: proposedAt }), proposal)
  t.equal(openProposal(proposal, { person: 'bob', now: justBefore }), proposal)
})

t.test('who proposed it does not', async (t) => {
  t.throws(() => openProposal(proposal, { person: 'alice', now: justBefore }), {
    code: 'TWO_PEOPLE_REQUIRED',
    details: { proposedBy: 'alice', expiresAt: expiry.toISOString() },
  })
})

t.test('without a proposal, or with one that has expired, there is nothing to carry out', async (t) => {
  for (const person of ['alice', 'bob']) {
    t.equal(openProposal(undefined, { person, now: proposedAt }), undefined)
    t.equal(openProposal(proposal, { person, now: expiry }), undefined)
  }
})
