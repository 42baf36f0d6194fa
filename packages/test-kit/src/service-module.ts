import { loadConfig, type RunningService, serviceConfig } from '@backoffice/service-runtime'
import type { TObject } from '@sinclair/typebox'

/** What `import * as players from '@backoffice/players'` gives. */
export interface ServiceModule {
  // Each service has a configuration type of its own; the test bed reads it through that service's schema.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  start(config: any, options?: any): Promise<RunningService>
}

/** The service's configuration from `environment`, through the schema that its module exports or the runtime's own. */
export function configurationOf(module: ServiceModule, environment: Readonly<Record<string, string>>): unknown {
  const schema = Object.values(module).find(isConfigurationSchema) ?? serviceConfig
  return loadConfig(schema, environment)
}

function isConfigurationSchema(value: unknown): value is TObject {
  return typeof value === 'object' && value !== null && 'DATABASE_URL' in ((value as TObject).properties ?? {})
}
