import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'

export const credentials = [
  row({ path: 'credentials issue', operation: operations.gateway.issueCredential }),
  row({
    path: 'credentials revoke',
    operation: operations.gateway.revokeCredential,
    arguments: ['key'],
    confirm: ({ key }) => `Revoke ${key}?`,
  }),
]
