import { sql } from '@backoffice/service-runtime'
import { isNotOfFuture, sqlCheck } from './check.ts'

/** Every player has an account. One whose account is still being opened is listed as in flight. */
export const accounts = sqlCheck('accounts', {
  kind: 'player',
  differences: (keys) => sql`
    select k.key, p.brand_id, p.id as subject, 'an account' as expected, 'none' as actual,
      'A player was registered and has no account.' as explanation
    from ${keys}
    join players.player p on p.id = k.key
    where not exists (select from wallet.account a where a.brand_id = p.brand_id and a.owner_id = p.id)
      and not exists (
        select from players.outbox o where o.aggregate = p.id and o.kind = 'command' and o.done_at is null
          and ${isNotOfFuture(sql`o.created_at`)}
      )
  `,
})
