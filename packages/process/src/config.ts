import { readFileSync } from 'node:fs'
import { type Static, type StringOptions, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

interface SecretOptions extends StringOptions {
  /** Of a URL: the setting with its password, which then is not in the URL. */
  readonly password?: string
}

/** A setting that is a secret. It may be in a file instead, which the variable `<NAME>_FILE` names. */
export const secret = (options: SecretOptions = {}) => Type.String({ minLength: 1, ...options, secret: true })

/** The settings of every program, by the names of their environment variables. */
export const programSettings = {
  /**
   * How long a process goes on taking work after it was told to stop. /readyz fails meanwhile, so that load balancers
   * notice.
   */
  DRAIN_DELAY_MS: Type.Integer({ minimum: 0, maximum: 60_000, default: 0 }),
  HEALTH_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  /** 0 takes any free port. */
  HEALTH_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 0 }),
  LOG_LEVEL: Type.String({ pattern: '^(fatal|error|warn|info|debug|trace|silent)$', default: 'info' }),
}

/** Relaxes what production must not: plain http to loopback, built-in keys. Set by `npm start` and tests only. */
export const developmentSetting = Type.Boolean({ default: false })

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

type Environment = Readonly<Record<string, string | undefined>>
type Given = { readonly text: string | undefined } | { readonly fault: string }

/**
 * Reads the configuration from the environment, and secrets also from files. An empty variable counts as absent.
 * @throws {ConfigurationError} naming every variable and file that is missing or wrong, never what is in it
 */
export function loadConfig<T extends TObject>(schema: T, environment: Environment): Static<T> {
  const raw: Record<string, unknown> = {}
  const faults = new Map<string, string>()
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = property.secret === true ? secretFrom(environment, name) : { text: environment[name] }
    if ('fault' in given) faults.set(name, given.fault)
    else if (given.text !== undefined && given.text !== '') raw[name] = fromText(property, given.text)
  }
  const config = Value.Default(schema, raw) as Record<string, unknown>
  for (const { path, message } of Value.Errors(schema, config)) {
    const name = path.slice(1)
    if (!faults.has(name)) faults.set(name, name in raw ? lowerFirst(message) : 'is required')
  }
  for (const [name, property] of Object.entries(schema.properties)) {
    const [url, password] = [config[name], config[property.password]]
    if (faults.has(name) || url === undefined || password === undefined) continue
    const given = urlWithPassword(String(url), { password: String(password), from: property.password })
    if ('fault' in given) faults.set(name, given.fault)
    else config[name] = given.text
  }
  if (faults.size > 0) {
    const lines = [...faults].map(([name, fault]) => `${name}: ${fault}`)
    throw new ConfigurationError(`the configuration is not valid:\n  ${lines.join('\n  ')}`)
  }
  return config as Static<T>
}

/** In its own variable, or in the file that a second one names. */
function secretFrom(environment: Environment, name: string): Given {
  const fileVariable = `${name}_FILE`
  const [text, file] = [environment[name] || undefined, environment[fileVariable] || undefined]
  if (file === undefined) return { text }
  if (text !== undefined) return { fault: `${name} and ${fileVariable} are both set` }
  try {
    // What writes such a file by hand, an editor or `echo`, ends it with a line feed that is no part of the secret.
    const content = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    return content === '' ? { fault: `${fileVariable} names ${file}, which is empty` } : { text: content }
  } catch (error) {
    return { fault: `${fileVariable} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
}

function urlWithPassword(text: string, { password, from }: { password: string; from: string }): Given {
  const url = URL.parse(text)
  if (url === null) return { fault: 'is no URL' }
  if (url.password !== '') return { fault: `has a password, and so has ${from}` }
  url.password = encodeURIComponent(password)
  return { text: url.href }
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** Numbers and booleans are written as text in an environment; what is not one is left for the schema to refuse. */
function fromText(schema: TSchema, value: string): unknown {
  if ((schema.type === 'integer' || schema.type === 'number') && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}
