import { Migration } from '@mikro-orm/migrations'

export class DeliveryTrace extends Migration {
  override async up(): Promise<void> {
    // W3C trace context of the request behind the event; null where nothing was traced.
    this.addSql('alter table webhooks.delivery add column trace_parent text')
  }
}
