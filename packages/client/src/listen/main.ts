#!/usr/bin/env node
// backoffice-listen: receives the deliveries of an environment on this machine.
import { parseArgs } from 'node:util'
import { apiVersion } from '../api.ts'
import { BackOfficeClient } from '../client.ts'
import {
  keysHelp,
  listenOptions,
  optionsHelp,
  run,
  secretsInEnvironment,
  settingsFrom,
  triggerHelp,
} from './program.ts'
import { eventToTrigger, trigger } from './trigger.ts'

const portDefault = '4242'
const usage = `WEBHOOK_SECRET=whsec_… backoffice-listen [options]

Receives webhooks on this machine, verifies each, and prints it. Deliveries come from outside, so open a way to the
port, for example with a tunnel, and ask for its https address to be the URL of your sandbox. Where a secret is being
changed, WEBHOOK_SECRET takes both, with a comma between them.

${optionsHelp.replace('of 127.0.0.1', `of 127.0.0.1 (default ${portDefault})`)}
  --version          print the release of this program

${keysHelp}

${triggerHelp(', at BASE_URL with OPERATOR_KEY and OPERATOR_SECRET')}`

/** @throws it is not set */
function variable(name: string): string {
  const { [name]: value = '' } = process.env
  if (value === '') throw new Error(`${name} is not set`)
  return value
}

async function main(): Promise<void> {
  const options = { ...listenOptions, version: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help) return void process.stdout.write(`${usage}\n`)
  if (values.version) return void process.stdout.write(`${apiVersion}\n`)
  const triggered = eventToTrigger(positionals)
  if (triggered !== undefined) {
    const [key, secret] = [variable('OPERATOR_KEY'), variable('OPERATOR_SECRET')]
    const client = new BackOfficeClient({ baseUrl: variable('BASE_URL'), key, secret })
    return void process.stdout.write(await trigger(client, triggered))
  }
  const secrets = secretsInEnvironment()
  if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set: it is the whsec_… of your environment')
  await run({
    settings: settingsFrom({ port: portDefault, ...values }),
    secrets,
    async attach(url) {
      process.stdout.write(`Listening on ${url}. r sends the last event again, Ctrl-C ends.\n`)
      return async () => {}
    },
  })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
