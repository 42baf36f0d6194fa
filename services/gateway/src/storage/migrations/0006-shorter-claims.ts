import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * A claim with its reply has no token: no attempt runs any more. Where the content type is null it is that of JSON, and where
 * the request id is null it is the operation's, under its own prefix.
 */
export const shorterClaims: Migration = {
  name: '0006_shorter_claims',
  sql: 'alter table gateway.claim alter column token drop not null',
}
