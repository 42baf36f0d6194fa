import { operations } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import {
  countNotKept,
  countRefused,
  findKeyUses,
  findRefusedRequests,
  type NamedRequest,
  namedSender,
} from './records.ts'

const keyUsesMax = 20

export const listRefusedRequests = handle(operations.gateway.listRefusedRequests, async ({ input }, { db }) => {
  const { limit } = input
  const [rows, notKeptToday] = await Promise.all([
    findRefusedRequests(db, { ...input, limit: limit + 1 }),
    countNotKept(db, input),
  ])
  return { ...toPage(rows.map(shown), limit, ({ requestId }) => requestId), notKeptToday }
})

export const countRefusals = handle(operations.gateway.countRefusals, async ({ input }, { db }) => ({
  data: (await countRefused(db, input.environment)).map(withIsoTimes),
}))

const shown = ({ operatorId, environment, ...request }: NamedRequest) =>
  withIsoTimes({
    ...request,
    ...namedSender(operatorId),
    environment: environment === '' ? null : environment,
    outcomeKnown: request.status < 500,
  })

export const findIdempotencyKey = handle(operations.gateway.findIdempotencyKey, async ({ input }, { db }) => ({
  data: (await findKeyUses(db, input.key, keyUsesMax)).map(withIsoTimes),
}))
