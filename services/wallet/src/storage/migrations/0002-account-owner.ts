import { Migration } from '@mikro-orm/migrations'

/** The team names a player without the brand; with it, this index serves as well as the unique one. */
export class AccountOwner extends Migration {
  override async up(): Promise<void> {
    this.addSql('create index account_of_owner on wallet.account (owner_id, brand_id) where owner_id is not null')
  }
}
