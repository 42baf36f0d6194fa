import { defineEntity, p } from '@mikro-orm/postgresql'

/** Of the probe services, which load it on use, as services do. */
export const RecordEntity = defineEntity({
  name: 'Record',
  tableName: 'record',
  properties: { id: p.string().primary(), count: p.integer() },
})
