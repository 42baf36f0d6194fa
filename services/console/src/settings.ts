import { invalid, type Operation, operations } from '@backoffice/contracts'
import {
  ConfigurationError,
  certificateSettings,
  developmentSetting,
  programSettings,
  proxySettings,
  secret,
} from '@backoffice/process'
import { natsSettings } from '@backoffice/rpc'
import { identitySettings } from '@backoffice/team-access/identity'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** 32 bytes in base64. */
const sessionKey = '[A-Za-z0-9+/]{43}='

const digits = (max: number) => Type.String({ pattern: `^\\d{1,${max}}$` })
const checkDigit = Type.Optional(Type.String({ pattern: '^[0-9A-Z]?$' }))
const asciiText = (max: number) => Type.String({ pattern: '^[ -~]+$', minLength: 1, maxLength: max })

/** What a company and its bank have agreed, as the bank's own papers call it. */
export const BankAgreement = Type.Object(
  {
    /** The bank's number of three digits, and its name. */
    bank: Type.String({ pattern: '^\\d{3}$' }),
    bankName: asciiText(30),
    /** The CNPJ of the company, its name, and the number of the agreement (convênio). */
    cnpj: Type.String({ pattern: '^\\d{14}$' }),
    company: asciiText(30),
    agreement: asciiText(20),
    /** The account that is debited, with its check digits. */
    branch: digits(5),
    branchDigit: checkDigit,
    account: digits(12),
    accountDigit: checkDigit,
    branchAccountDigit: checkDigit,
  },
  { additionalProperties: false },
)
export type BankAgreement = Static<typeof BankAgreement>

/** The environment variables of the console. */
export const settings = Type.Object({
  ...identitySettings,
  /** The console is of no use without the identity provider. */
  TEAM_ISSUER: Type.String({ pattern: '^https?://' }),
  TEAM_DEPLOYMENT: Type.String({ minLength: 1 }),
  /** The address at which people reach the console, without a path. The provider sends them back to `/callback` of it. */
  CONSOLE_URL: Type.String({ pattern: '^https?://[^/?#]+$' }),
  CONSOLE_CLIENT_ID: Type.String({ minLength: 1, default: 'backoffice-console' }),
  CONSOLE_CLIENT_SECRET: secret(),
  /** What is asked for in a login. Some providers list a person's groups only for a scope such as `groups`. */
  CONSOLE_SCOPE: Type.String({ pattern: '(^| )openid( |$)', default: 'openid email profile' }),
  /** The client that the command line logs in with. It is public: it has no secret. */
  CONSOLE_CLI_CLIENT_ID: Type.String({ minLength: 1, default: 'backoffice-cli' }),
  /**
   * Keys of 32 bytes in base64, separated by commas, that encrypt the cookies. The first one writes, all of them read: a
   * new key is put in front, and the former one is taken away after a working day.
   */
  CONSOLE_SESSION_KEYS: secret({ pattern: `^${sessionKey}(,${sessionKey})*$` }),
  CONSOLE_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  /** 0 takes any free port. */
  CONSOLE_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8083 }),
  ...certificateSettings,
  ...proxySettings,
  /** Requests a minute of one address (IPv6: of one /64). What comes beyond that is refused with 429. */
  CONSOLE_REQUESTS_PER_MINUTE: Type.Integer({ minimum: 1, default: 600 }),
  /** Open connections of one process. More are closed at once, so that those that do nothing cannot use up the memory. */
  CONSOLE_CONNECTIONS_MAX: Type.Integer({ minimum: 1, default: 1_000 }),
  /** Calls a minute of one login or machine over the relay. */
  CONSOLE_CALLS_PER_MINUTE: Type.Integer({ minimum: 1, default: 600 }),
  /** IANA name of the zone in which times are shown. */
  CONSOLE_TIME_ZONE: Type.String({ minLength: 1, default: 'America/Sao_Paulo' }),
  /** As JSON, what `BankAgreement` describes: with it, several withdrawals are also written as a batch of Pix transfers. */
  CONSOLE_BANK_AGREEMENT: Type.Optional(Type.String()),
  ...natsSettings,
  DEVELOPMENT: developmentSetting,
  ...programSettings,
})
export type ConsoleSettings = Static<typeof settings>

/**
 * The agreement with the bank; undefined where there is none.
 * @throws {ConfigurationError} when it is not one
 */
export function agreementIn({ CONSOLE_BANK_AGREEMENT: text }: Pick<ConsoleSettings, 'CONSOLE_BANK_AGREEMENT'>) {
  if (text === undefined) return undefined
  const fault = (why: string) => new ConfigurationError(`CONSOLE_BANK_AGREEMENT: ${why}`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw fault('is no JSON')
  }
  const wrong = Value.Errors(BankAgreement, value).First()
  if (wrong !== undefined) throw fault(`${wrong.path} ${wrong.message}`)
  return value as BankAgreement
}

/** By this name the numbers of its batches are counted. */
export const nameOfAgreement = ({ bank, agreement }: BankAgreement): string => `${bank} ${agreement}`

/**
 * Batches are written here, for the agreement of the settings. One that was made for another could never be written.
 * @throws {Rejection} VALIDATION_ERROR
 */
export function refuseOtherAgreement(
  config: ConsoleSettings,
  operation: Operation,
  { agreement: given }: Readonly<Record<string, unknown>>,
): void {
  if (operation !== operations.payments.makePaymentFile || given === undefined) return
  const agreement = agreementIn(config)
  if (agreement === undefined) throw invalid('body', '/agreement', 'no agreement is set in CONSOLE_BANK_AGREEMENT')
  const name = nameOfAgreement(agreement)
  if (given !== name) throw invalid('body', '/agreement', `must be ${name}, as CONSOLE_BANK_AGREEMENT says`)
}

/** @throws {ConfigurationError} when the settings contradict each other, or would be unsafe in production */
export function checkedSettings(config: ConsoleSettings): ConsoleSettings {
  const { CONSOLE_CLIENT_ID, CONSOLE_CLI_CLIENT_ID, CONSOLE_TIME_ZONE, CONSOLE_URL, DEVELOPMENT, TEAM_ISSUER } = config
  agreementIn(config)
  const audiences = config.TEAM_AUDIENCES.split(',')
  for (const client of [CONSOLE_CLIENT_ID, CONSOLE_CLI_CLIENT_ID])
    if (!audiences.includes(client))
      throw new ConfigurationError(`TEAM_AUDIENCES: the services would refuse who logs in with ${client}`)
  if (config.TEAM_DEPLOYMENT !== new URL(CONSOLE_URL).origin)
    throw new ConfigurationError('TEAM_DEPLOYMENT: must be the origin of CONSOLE_URL, for which people sign')
  if (!DEVELOPMENT)
    for (const [name, address] of Object.entries({ CONSOLE_URL, TEAM_ISSUER }))
      if (!address.startsWith('https:')) throw new ConfigurationError(`${name}: must be https`)
  try {
    new Intl.DateTimeFormat('en', { timeZone: CONSOLE_TIME_ZONE })
  } catch {
    throw new ConfigurationError('CONSOLE_TIME_ZONE: there is no such time zone')
  }
  return config
}
