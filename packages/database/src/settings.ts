import { secret } from '@backoffice/process'
import { type Static, type TObject, Type } from '@sinclair/typebox'

/** The settings of a program that connects to a database of its own, by the names of their environment variables. */
export const databaseSettings = {
  DATABASE_URL: secret({ description: "postgres:// URL with the service's own role", password: 'DATABASE_PASSWORD' }),
  DATABASE_PASSWORD: Type.Optional(secret()),
  /** PEM of the authority behind PostgreSQL's certificate; when set, the connection is TLS and the certificate is verified. */
  DATABASE_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
  DATABASE_POOL_MAX: Type.Integer({ minimum: 1, maximum: 200, default: 10 }),
}
export type DatabaseConfig = Omit<Static<TObject<typeof databaseSettings>>, 'DATABASE_PASSWORD'>
